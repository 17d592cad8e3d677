"""Functions with a meaning by their names in a plan's text: Spark's class, and the type of the result.

A function without a row here is a TRANSFORMATION of its arguments, like its class in `EXPRESSIONS`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence

from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import EXPRESSION
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

_NAMED_LIKE_THEIR_CLASS = """
    coalesce collate collation try_eval crc32 mask md5 sha1 sha2
    collect_list collect_set count count_if first hll_sketch_agg last max max_by min min_by regr_count
    theta_sketch_agg tuple_sketch_agg_double tuple_sketch_agg_integer
    dense_rank lag lead nth_value percent_rank rank
    array_append array_compact array_distinct array_insert array_max array_min array_prepend array_repeat
    concat element_at flatten map_concat map_from_arrays map_values reverse shuffle slice sort_array
    array_sort map_filter map_zip_with transform_keys transform_values zip_with
    explode inline json_tuple stack
"""
"""For example `array_append` of `ArrayAppend`."""

CLASSES: dict[str, str] = {
    **{
        name: "".join(word.capitalize() for word in name.split("_"))
        for name in _NAMED_LIKE_THEIR_CLASS.split()
    },
    # Conditions, and the values that they choose from.
    **dict.fromkeys(("ifnull", "nvl", "zeroifnull"), "Coalesce"),
    "nanvl": "NaNvl",
    # Unchanged values.
    "assertnotnull": "AssertNotNull",
    "checkoverflowintableinsert": "CheckOverflowInTableInsert",
    "knownfloatingpointnormalized": "KnownFloatingPointNormalized",
    "knownnotnull": "KnownNotNull",
    **dict.fromkeys(("empty2null", "knownnullable"), "KnownNullable"),
    "normalizenanandzero": "NormalizeNaNAndZero",
    "tryeval": "TryEval",
    # Results that do not contain the value, or from which it cannot be read back.
    "typeof": "TypeOf",
    "hash": "Murmur3Hash",
    **dict.fromkeys(("hivehash", "hive-hash"), "HiveHash"),
    "sha": "Sha1",
    "xxhash64": "XxHash64",
    # Aggregates.
    **dict.fromkeys(("any_value", "first_value"), "First"),
    "approx_count_distinct": "HyperLogLogPlusPlus",
    "array_agg": "CollectList",
    "count_min_sketch": "CountMinSketchAgg",
    "last_value": "Last",
    **dict.fromkeys(("listagg", "string_agg"), "ListAgg"),
    "pivotfirst": "PivotFirst",
    # Arrays, maps and structs.
    "array": "CreateArray",
    "get": "GetArrayItem",
    "map": "CreateMap",
    **dict.fromkeys(("named_struct", "struct"), "CreateNamedStruct"),
    "try_element_at": "ElementAt",
    # Functions with lambdas.
    **dict.fromkeys(("aggregate", "reduce"), "ArrayAggregate"),
    "exists": "ArrayExists",
    "filter": "ArrayFilter",
    "forall": "ArrayForAll",
    "transform": "ArrayTransform",
    # Generators.
    "posexplode": "PosExplode",
}
"""Name that Spark prints -> simple name of its class, if `plan.spark` has a row for it."""

AGGREGATES = frozenset(
    """
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate array_agg avg
    bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list
    collect_set corr count count_if count_min_sketch covar_pop covar_samp every first first_value
    histogram_numeric hll_sketch_agg hll_union_agg kll_sketch_agg_bigint kll_sketch_agg_double
    kll_sketch_agg_float kurtosis last last_value listagg max max_by mean median min min_by mode percentile
    percentile_approx percentile_cont percentile_disc pivotfirst regr_avgx regr_avgy regr_count regr_intercept
    regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev stddev_pop
    stddev_samp string_agg sum theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum
    tuple_sketch_agg_double tuple_sketch_agg_integer var_pop var_samp variance
    """.split()
)
"""Names of aggregate functions. The text does not show the `AggregateExpression` around each."""

OF_FIRST = frozenset(
    """
    AssertNotNull Collate First KnownFloatingPointNormalized KnownNotNull KnownNullable Lag Last Lead Max
    MaxBy Min MinBy NormalizeNaNAndZero NthValue TryEval ArrayAppend ArrayCompact ArrayDistinct ArrayFilter
    ArrayInsert ArrayPrepend ArraySort MapFilter Reverse Shuffle Slice SortArray Inline
    """.split()
)
"""Classes whose result has the type of the first child."""

_OF_ELEMENTS = frozenset({"ArrayMax", "ArrayMin", "ElementAt", "Explode", "GetArrayItem", "GetMapValue"})

_SAME_TYPE = frozenset({"Coalesce", "Concat", "MapConcat"})


BUILTIN = frozenset((pkgutil.get_data(__name__, "builtin.txt") or b"").decode("ascii").split())
"""Names of Spark's functions, which `tools/explain_functions.py` lists."""


_OF_TEXT = frozenset({"dropfield", "outer", "update_fields", "variablereference", "withfield"})
"""Names that are only in texts."""


def is_known(name: str) -> bool:
    """Return whether a function is one of Spark's own."""
    return name.lower() in BUILTIN or name in CLASSES or name in AGGREGATES or name.lower() in _OF_TEXT


def call(name: str, children: Sequence[Tree]) -> Tree:
    """Return the call of a class over its children."""
    return [{"class": EXPRESSION + name, "num-children": len(children)}, *(n for c in children for n in c)]


def literal() -> Tree:
    """Return a constant of the query."""
    return [{"class": EXPRESSION + "Literal", "num-children": 0}]


def _decode(arguments: Sequence[Tree]) -> Tree:
    """Return DECODE as a CASE: the value is compared with each search value; the first match is chosen."""
    if len(arguments) < 3:
        return call("decode", arguments)
    tested, *others = arguments
    branches: list[Tree] = []
    for index in range(0, len(others) - 1, 2):
        branches.extend((call("EqualNullSafe", [tested, others[index]]), others[index + 1]))
    return call("CaseWhen", [*branches, *([others[-1]] if len(others) % 2 else [])])


REPLACED: dict[str, tuple[int, Callable[[Sequence[Tree]], Tree]]] = {
    "decode": (2, _decode),
    "nullif": (2, lambda values: call("If", [call("EqualTo", values[:2]), literal(), values[0]])),
    "nullifzero": (1, lambda values: call("If", [call("EqualTo", values[:1]), literal(), values[0]])),
    "nvl2": (3, lambda values: call("If", [call("IsNotNull", values[:1]), *values[1:3]])),
    "zeroifnull": (1, lambda values: call("Coalesce", [values[0], literal()])),
}
"""Name -> (minimum number of arguments, Spark's expression for the function)."""


def result_type(name: str, kinds: Sequence[types.Type]) -> types.Type:
    """Return the type of a class's result from the types of its children."""
    if not kinds:
        return types.whole()
    if name in OF_FIRST:
        return kinds[0]
    if name in _OF_ELEMENTS:
        first = kinds[0]
        is_nested = isinstance(first, dict) and first.get("type") in ("array", "map")
        if is_nested:
            return first.get("elementType") or first.get("valueType")
        return first if isinstance(first, dict) else types.whole()
    if name in _SAME_TYPE:
        return types.common(list(kinds))
    if name in ("ArrayRepeat", "CollectList", "CollectSet"):
        return {"type": "array", "elementType": kinds[0]}
    if name == "Flatten":
        return result_type("Explode", kinds)
    if name == "MapValues":
        return {"type": "array", "elementType": result_type("Explode", kinds)}
    if name == "MapFromArrays":
        return {"type": "map", "keyType": types.whole(), "valueType": result_type("Explode", kinds[1:])}
    if name == "CreateArray":
        return {"type": "array", "elementType": types.common(list(kinds))}
    if name == "CreateMap":
        keys, values = list(kinds[::2]), list(kinds[1::2])
        return {"type": "map", "keyType": types.common(keys), "valueType": types.common(values)}
    if name == "Count":
        return "bigint"
    # The effect of other functions on the fields of a struct is unknown.
    return types.closed() if any(map(types.field_names, kinds)) else types.whole()


def type_of_function(name: str, argument: types.Type, result: types.Type) -> types.Type:
    """Return the result type of a function with lambdas; `result` is the type of its last lambda."""
    if name in ("ArrayTransform", "ZipWith"):
        return {"type": "array", "elementType": result}
    if name in ("TransformValues", "MapZipWith"):
        return {"type": "map", "keyType": types.whole(), "valueType": result}
    if name == "TransformKeys" and isinstance(argument, dict) and argument.get("type") == "map":
        return {**argument, "keyType": result}
    if name in ("ArrayFilter", "ArraySort", "MapFilter", "TransformKeys"):
        return argument
    return result if name == "ArrayAggregate" else types.whole()
