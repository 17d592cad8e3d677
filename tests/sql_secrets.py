"""Values of secrets in SQL, in every form that Spark's lexer and parser have for one."""

# A literal has this text or this number.
SECRET, NUMBER = "hunter2", "471108"

LITERALS = {
    "STRING_LITERAL": [
        "'hunter2'",
        "'say \\'hunter2'",
        "'it''s hunter2'",
        "r'hunter2'",
        'R"hunter2\\"',
        "'hunt' 'hunter2'",
        "'hunt'\n  r'hunter2'",
    ],
    "DOUBLEQUOTED_STRING": ['"hunter2"', '"hunt" "hunter2"', '"say \\"hunter2"'],
    "BINARY_HEX": ["X'471108'", 'x"471108"'],
    "INTEGER_VALUE": ["471108", "-471108"],
    "BIGINT_LITERAL": ["471108L"],
    "SMALLINT_LITERAL": ["4711S"],
    "TINYINT_LITERAL": ["113Y"],
    "EXPONENT_VALUE": ["471108e3", "4.71108e-3"],
    "DECIMAL_VALUE": ["471108.5", ".471108"],
    "FLOAT_LITERAL": ["471108.5f"],
    "DOUBLE_LITERAL": ["471108.5D"],
    "BIGDECIMAL_LITERAL": ["471108.5BD"],
    # Spark 4.2 and later
    "BEGIN_DOLLAR_QUOTED_STRING": ["$$hunter2$$", "$a$ $$hunter2$$ $a$"],
}
"""Token of Spark's lexer that begins a literal -> literals."""

NOT_LITERALS = frozenset(
    """RLIKE TEMPORARY EQ LTE GTE IDENTIFIER BACKQUOTED_IDENTIFIER SIMPLE_COMMENT BRACKETED_COMMENT WS
    UNRECOGNIZED DOLLAR_QUOTED_STRING_BODY END_DOLLAR_QUOTED_STRING""".split()
)
"""Tokens that are not one fixed word and begin no literal."""

EXPRESSIONS = [
    "('hunter2')",
    "'hunt' || 'hunter2'",
    "concat('hunt', upper('hunter2'))",
    "cast('hunter2' as string)",
    "case when true then 'hunter2' end",
    "date'4711-08-01'",
    "interval '471108' day",
]
"""Values that Spark computes: it takes an expression for the value of an option."""

OF_DATABASES = [
    "N'hunter2'",
    "E'it\\'s hunter2'",
    "b'hunter2'",
    "U&'hunter2'",
    "_utf8'hunter2'",
    "q'[it's hunter2]'",
]

VALUES = [*(value for values in LITERALS.values() for value in values), *EXPRESSIONS, *OF_DATABASES]

PLACES = [
    "options (password {}, url 'shown')",
    "options (url 'shown', `my.password` {})",
    "options (url 'shown', 'sas_token' /* not 'hunter1' /* nor this */ */ {})",
    "options (url 'shown', auth -- the \\\n new one\n {})",
    "options (api_key={}, url 'shown')",
    "options (access.key /* a */ = /* b */ {}, url 'shown')",
]
"""Places of a value in a statement."""


def is_hidden(text):
    """Return whether a text has no part of a secret value."""
    return not any(part in text for part in (SECRET, NUMBER, "4.71108", "4711-08", "hunt", "4711S", "113Y"))
