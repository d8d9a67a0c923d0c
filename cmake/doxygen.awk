# SPDX-License-Identifier: Apache-2.0
# What Doxygen reads in place of a public header: its plain comments, marked up.  The headers themselves stay
# readable as text.
#
#   /* text */ or a block before a declaration     its description; the first block of a file is a page
#   declaration; /* text */                        its description
#   an enumeration behind its type                 "Values of" that type
#   declarations without one                       the description above the one before, up to an empty line
#   /* ---- Title ---- */                          a group, up to the next one
#   lines indented by four spaces or more          as they stand
#   ROPE_ERR_NAME  text, and indented lines        a status that the function returns

# Words that Doxygen or Markdown would take for markup.
function plain(text)
{
    gsub(/\*/, "\\*", text)
    gsub(/</, "\\<", text)
    return text
}

function leave_verbatim()
{
    if (verbatim)
        print "@endverbatim"
    verbatim = 0
}

# One line of a description without its decoration; `indent` is its own.
function describe(text, indent)
{
    indent = match(text, /[^ ]/) ? RSTART - 1 : 0
    if (text ~ /^ROPE_ERR_[A-Z]+ /) {
        leave_verbatim()
        in_statuses = 1
        sub(/ +/, " ", text)
        print "@retval " plain(text)
    } else if (in_statuses && indent >= 4) {
        print plain(substr(text, indent + 1))
    } else if (indent >= 4) {
        if (!verbatim)
            print "@verbatim"
        verbatim = 1
        print text
    } else if (text == "" && verbatim) {
        print ""
    } else {
        leave_verbatim()
        if (in_statuses && text != "")
            print "" # what follows a list is no part of its last item
        in_statuses = 0
        print plain(text)
    }
}

/SPDX-License-Identifier/ { print ""; next }

# A group.
/^\/\* ---- / {
    title = $0
    sub(/^\/\* -* */, "", title)
    sub(/ *-* *\*\/$/, "", title)
    sub(/[:;].*/, "", title)
    id = tolower(title)
    gsub(/[^a-z]+/, "_", id)
    if (group)
        print "/** @} */"
    print "/** @defgroup " id " " title "\n@{ */"
    group = 1
    next
}
/^#ifdef __cplusplus/ && group { print "/** @} */"; group = 0 }

# A block: /* alone, lines that start with " *", */ alone.
/^\/\*$/ {
    inside = 1
    if (pages++)
        print "/**"
    else if (FILENAME ~ /config/)
        print "/** @file"
    else
        print "/** @file\nThe core library. */\n/** @mainpage librope"
    print ""
    next
}
inside && /^ \*\/$/ { leave_verbatim(); in_statuses = inside = 0; print " */"; next }
inside { sub(/^ \*/, ""); sub(/^ /, ""); describe($0); next }

# A comment on lines of its own; the lines that continue it are indented.
/^ *\/\* / && !/^ *\/\* .*\*\/ *[^ ]/ {
    match($0, /\/\*/)
    printf "%s", substr($0, 1, RSTART - 1)
    text = substr($0, RSTART + 3)
    running = text !~ /\*\/$/
    sub(/ *\*\/$/, "", text)
    above = plain(text)
    if (!running)
        print "/** " above " */"
    first = 1
    next
}
running {
    running = !/\*\/$/
    sub(/ *\*\/$/, "")
    sub(/^ +/, "")
    above = above "\n" plain($0)
    if (!running)
        print "/** " above " */"
    next
}

# A comment behind a declaration, or behind several.
/;.*\/\* .*\*\/$|,.*\/\* .*\*\/$|= .*\/\* .*\*\/$/ {
    match($0, /\/\* .*\*\/$/)
    text = substr($0, RSTART + 3)
    sub(/ *\*\/$/, "", text)
    $0 = substr($0, 1, RSTART - 1)
    sub(/ *$/, "")
    if (!/[a-z], [a-z_ ,]*;$/) {
        print $0 " /**< " plain(text) " */"
        above = ""
        next
    }
    above = plain(text)
    first = 0
}

# Declarations without a comment of their own.
/^$/ || /^typedef struct .*\{/ { above = "" }
/^typedef struct .*\{/ { fields = 1 }
/^}/ { fields = 0 }
fields && /^    [a-z].*;$/ {
    type = $0
    sub(/[a-z_0-9]+(, [a-z_0-9]+)*;$/, "", type)
    count = split(substr($0, length(type) + 1), name, /[,;] */)
    for (i = 1; i < count; i++) {
        if (above != "" && !first)
            print "/** " above " */"
        first = 0
        print type name[i] ";"
    }
    next
}
/^ROPE_API|^#define ROPE_VERSION/ {
    if (above != "" && !first)
        print "/** " above " */"
    first = 0
}

# An enumeration without a name belongs to the type before it.
/^typedef int32_t rope_/ { type = $3; sub(/;/, "", type); print; getline }
/^enum \{/ && type != "" { print "/** Values of " type ". */" }
{ type = "" }

/^#define ROPE_[A-Z_]*_INIT / {
    type = tolower($2)
    sub(/_init$/, "", type)
    print "/** Initial value of a " type ", with its struct_size. */"
}
{ print }
