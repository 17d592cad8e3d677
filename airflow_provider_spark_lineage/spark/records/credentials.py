"""Forms of credentials in a text, as a table of rules, and the function that masks them.

The same rules apply to SQL, paths, options and messages. Also runs on the cluster's driver: standard library
only, Python 3.9 syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from airflow_provider_spark_lineage.spark.records.secret_literals import (
    KEY_WORDS,
    SHORT_KEY_WORDS,
    without_values_of_secrets,
)

REMOVED = "***"
"""The text that replaces a secret."""

FLAGS = re.IGNORECASE | re.VERBOSE | re.DOTALL
"""Flags of the rules' patterns; `(?-i: )` inside a pattern is case-sensitive."""


@dataclass(frozen=True)
class Rule:
    """One form of a credential in a text."""

    name: str

    pattern: str
    """The group `secret` is replaced; the rest of the match stays."""

    hints: tuple[str, ...]
    """Words in lower case; every text that matches the pattern contains one of them."""

    example: str
    masked: str
    """The example after masking."""

    near_miss: str
    """A similar text that must not change."""


_NAME = rf"""
    (?<![\w.-])
    # Most words have no separator after them: tested first, because it is cheap.
    (?= [\w.-]+ ["'`\\]* \s* [=:>"'-] )
    (?: (?= [\w.-]* (?: {KEY_WORDS} ) ) [\w.-]+
      | (?: [\w-]+ \. )* (?: [\w-]+ [_-] )? (?: {SHORT_KEY_WORDS} ) )"""
"""A name with a key word anywhere in it, or with a short key word at its end."""

_SEPARATOR = r"""
    ["'`\\]* (?: \s* (?: => | -> | ={1,3} | :(?!:) ) \s* | \s+ (?= ["'] ) )"""
"""`name = value`, `"name": "value"`, `name -> value`, and `OPTIONS (name 'value')` of SQL."""

_QUOTED = r"""(?: (?P=quote){2} | (?! (?P=quote) ) (?: \\. | . ) )*"""

_BRACED = r"""(?<==) \{ (?= [^}]{0,4096} \} ) (?: [^}] | \}\} ){0,4096} \}"""
"""SQL Server's syntax for a value that contains semicolons.

The lengths of this and of other parts are limited to keep the search linear: a part without an end would be
searched from each of its beginnings to the end of the text.
"""

_TYPES = r"""
    (?: string | (?:big|small|tiny)?int | integer | long | short | byte | double | float | decimal | boolean
      | binary | date | timestamp (?:_ntz|_ltz)? | array | map | struct | variant | char | varchar )
    (?= [\s,;<>(] | \Z )"""

_OTHER_SIDE = rf"""
    (?: [\w`]+ \. )+ `? \w{{0,200}} (?: {KEY_WORDS} ) \w{{0,200}} `? (?= [\s,;)] | \Z )"""
"""The other side of a join: `on a.token = b.token`. The lengths are limited, as above."""

_BARE = rf"""
    (?! {_TYPES} | (?: null | none | true | false ) \b | {_OTHER_SIDE} )
    [^\s,;&"'\\(){{}}\[\]] [^\s,;&"'\\)\]}}]*"""

RULES: tuple[Rule, ...] = (
    Rule(
        "user_and_password_of_url",
        r"""(?<![a-z0-9+.-]) [a-z][a-z0-9+.-]*:// (?P<secret> [^\s/@:'"\\]* : [^\s/'"\\]+ ) @""",
        hints=("@",),
        example="https://etl:hunter2@host/path",
        masked="https://***@host/path",
        near_miss="http://host:8080/a@b",
    ),
    Rule(
        "value_of_secret_name",
        rf"""{_NAME} {_SEPARATOR} (?: (?P<quote> \\* ["'] ) | (?: bearer | basic ) \s+ )?
        (?P<secret> (?(quote) {_QUOTED} | (?: {_BRACED} | {_BARE} ) ) )""",
        hints=("pass", "pwd", "pw", "secret", "token", "cred", "key", "sas", "sig", "auth"),
        example="user=etl&password=hunter2&ssl=true",
        masked="user=etl&password=***&ssl=true",
        near_miss="struct<token:string,password:array<int>,id:int>",
    ),
    Rule(
        "keys_of_s3_url",  # unlike other passwords, a key may have a slash in it
        r"""\b s3[an]?:// (?= [^\s'"\\@]{1,4096} @ ) (?P<secret> [^\s/@:'"\\]+ : [^\s'"\\@]+ ) @""",
        hints=("@",),
        example="s3a://ACCESS:ab/hunter2@bucket/orders",
        masked="s3a://***@bucket/orders",
        near_miss="s3a://bucket/at=10:30/user@host",
    ),
    Rule(
        "quoted_password_of_user",
        r"""\b identified \s+ (?: with \s+ \S+ \s+ )? (?: by | as ) (?: \s+ values )? \s*
        (?P<secret> "[^"]*" | '[^']*' | `[^`]*` )""",
        hints=("identified",),
        example="alter user etl identified with sha256 by 'hunter2'",
        masked="alter user etl identified with sha256 by ***",
        near_miss="orders are identified with 'id'",
    ),
    Rule(
        "bare_password_of_user",
        r"""\b (?: user | to ) \s+ \S+ \s+ identified \s+ by \s+ (?P<secret> [^\s;"'`]+ )""",
        hints=("identified",),
        example="grant connect to etl identified by hunter2",
        masked="grant connect to etl identified by ***",
        near_miss="orders are identified by number",
    ),
    Rule(
        "bearer_token",
        r"""\b bearer \s+ (?P<secret> (?= [\w.~+/-]* \d ) [\w.~+/-]{16,} =* )""",
        hints=("bearer",),
        example="curl with bearer abcdefghij0123456789==",
        masked="curl with bearer ***",
        near_miss="the bearer of-this-certificate-of-ours",
    ),
    Rule(
        "user_and_password_of_oracle_url",
        r"""\b jdbc:oracle:\w+: (?= [^\s'"\\@]{1,4096} @ ) (?P<secret> [^\s/@:'"\\]+ / [^\s'"\\]+ ) @""",
        hints=("@",),
        example="jdbc:oracle:thin:scott/hunter2@//db:1521/orcl",
        masked="jdbc:oracle:thin:***@//db:1521/orcl",
        near_miss="jdbc:oracle:thin:@//db:1521/orcl",
    ),
    Rule(
        "key_of_aes_function",
        r"""\b (?: try_ )? aes_ (?: en | de ) crypt \s* \( [^,;]{1,200} , \s* ["'\\]*
        (?P<secret> [^\s,"'\\)]+ )""",
        hints=("aes_",),
        example="select aes_encrypt(card, 'hunter2') from t",
        masked="select aes_encrypt(card, '***') from t",
        near_miss="select aes_encrypt(card) from t",
    ),
    Rule(
        "access_key_id_of_aws",
        r"""(?P<secret> \b (?-i: AKIA | ASIA ) (?-i: [A-Z0-9]{16} ) \b )""",
        hints=("akia", "asia"),
        example="as AKIA" + "IOSFODNN7EXAMPLE in eu-west-1",
        masked="as *** in eu-west-1",
        near_miss="ASIAPACIFICCUSTOMERSOFTHEYEAR",
    ),
    Rule(
        "json_web_token",
        r"""(?P<secret> \b (?-i: eyJ ) [\w-]{8,4096} \. [\w-]{8,} (?: \. [\w-]* )? )""",
        hints=("eyj",),
        example="x eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0.dozjgNryP4J y",
        masked="x *** y",
        near_miss="eyJhbGciOiJIUzI1NiJ9",
    ),
    Rule(
        "token_of_github_gitlab_slack_or_stripe",
        r"""(?P<secret> \b (?-i: gh[pousr]_ | github_pat_ | xox[abprs]- | glpat- | sk_live_ ) [\w-]{16,} )""",
        hints=("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github", "xox", "glpat", "sk_"),
        example="clone with ghp_" + "0123456789abcdefghij",
        masked="clone with ***",
        near_miss="ghp_of_orders",
    ),
    Rule(
        "token_of_databricks",
        r"""(?P<secret> \b (?-i: dapi [0-9a-f]{32} (?: -\d )? ) \b )""",
        hints=("dapi",),
        example="log in by dapi" + "0123456789abcdef" * 2 + "-2",
        masked="log in by ***",
        near_miss="dapi_customer_accounts_table",
    ),
    Rule(
        "key_of_openai_or_anthropic",
        r"""(?P<secret> \b (?-i: sk- (?: proj- | svcacct- | ant-\w+- )? ) (?= \w* \d ) \w{20} [\w-]* )""",
        hints=("sk-",),
        example="ask sk-proj-" + "a1b2c3d4e5f6g7h8i9j0k1l2 for it",
        masked="ask *** for it",
        near_miss="/models/sk-learn-experiments-of-2024/features",
    ),
    Rule(
        "private_key_in_pem_format",
        r"""(?P<secret> -----BEGIN [\w\s]*PRIVATE\ KEY-----
        .*? (?: -----END [\w\s]*PRIVATE\ KEY----- | \Z ) )""",
        hints=("key",),
        example="-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\nbehind it",
        masked="***\nbehind it",
        near_miss="-----BEGIN PUBLIC KEY-----\nMFkwEwYH",
    ),
)


@lru_cache(maxsize=64)
def _any_of(rules: tuple[Rule, ...]) -> re.Pattern[str]:
    """Return rules in one pattern: one pass over the text instead of one for each rule."""
    named = (rule.pattern.replace("(?P<secret>", f"(?P<{rule.name}>") for rule in rules)
    return re.compile("|".join(named), FLAGS)


_ANY = _any_of(RULES)

_HINTS = tuple(dict.fromkeys(hint for rule in RULES for hint in rule.hints))

CREDENTIAL_HINT = "(?i)" + "|".join(re.escape(hint) for hint in _HINTS)
"""Pattern that every text with a credential matches; Java uses it, too."""

_HINT = re.compile(CREDENTIAL_HINT)

_HINTS_OF_RULES = {rule: re.compile("(?i)" + "|".join(map(re.escape, rule.hints))) for rule in RULES}

_LONG = 5_000
"""A text of more characters is searched only by the rules that may match: a tenth of the time."""

_MAX_PASSES = 10


def without_secrets(text: str) -> str:
    """Replace everything that looks like a credential; leave the rest of the text unchanged.

    >>> without_secrets("jdbc:postgresql://db/sales?user=etl&password=hunter2")
    'jdbc:postgresql://db/sales?user=etl&password=***'
    """
    if not _may_hold_secrets(text):
        return text
    rules = _ANY if len(text) <= _LONG else _any_of(_rules_for(text))
    # After a replacement, the following text may match a rule, too.
    for _ in range(_MAX_PASSES):
        before, text = text, rules.sub(_masked, without_values_of_secrets(text))
        if text == before:
            break
    return text


def _may_hold_secrets(text: str) -> bool:
    """Return whether a text contains a hint; nearly every text has none."""
    if not text.isascii():
        return _HINT.search(text) is not None
    # Searching for each word takes a tenth of the time of the pattern.
    lower = text.lower()
    return any(hint in lower for hint in _HINTS)


def _rules_for(text: str) -> tuple[Rule, ...]:
    """Return the rules whose hints a text contains: the others do not match it."""
    if not text.isascii():
        return tuple(rule for rule in RULES if _HINTS_OF_RULES[rule].search(text))
    lower = text.lower()
    return tuple(rule for rule in RULES if any(hint in lower for hint in rule.hints))


def _masked(match: re.Match[str]) -> str:
    """Return the text of a match with its secret replaced."""
    # `lastgroup` is the group closed last: `secret` has no groups inside.
    rule = match.lastgroup
    assert rule is not None  # noqa: S101  every rule has a secret
    before = match.string[match.start() : match.start(rule)]
    behind = match.string[match.end(rule) : match.end()]
    return before + REMOVED + behind
