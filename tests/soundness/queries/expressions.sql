-- text
select oid, regexp_extract(note, '([a-z])-(\\d+)', 2) as d, regexp_replace(item, 'p', status) as r, split(note, ' ')[0] as s0, note rlike '^a' as ra, concat_ws('-', item, status, qty) as cw, translate(item, 'pe', 'xy') as tr, format_string('%s-%s', item, qty) as fs from orders
-- dates
select oid, date_add(day, qty) as d1, datediff(day, date'2024-01-01') as dd, date_trunc('month', day) as mo, extract(dow from day) as dow, add_months(day, qty) as am, date_format(day, 'yyyy') as y, last_day(day) as ld, months_between(day, date'2023-01-01') as mb, make_date(2024, qty, 1) as md from orders where qty is null or qty < 13
-- conditions
select oid, coalesce(item, status, note) as c, nvl2(item, status, note) as n2, nullif(qty, 4) as ni, decode(status, 'N', item, 'S', note, '-') as de, if(amount > 50, qty, oid) as i, nvl(amount, 0) as nv, case qty when 1 then 'one' when 2 then item end as cq, greatest(qty, amount) as gr, nanvl(amount, qty) as nn, ifnull(note, item) as fn, zeroifnull(qty) as z from orders
-- casts and hashes
select oid, try_cast(get(split(note, '-'), 1) as int) as n, cast(day as string) as ds, cast(qty as boolean) as b, hash(item, qty) as h, sha2(item, 256) as sh, width_bucket(amount, 0, 100, 5) as wb, bround(amount, 1) as br, status between 'A' and item as bt, mask(note) as ma from orders
-- higher-order functions
select eid, transform(arr, (x, i) -> x + i * who) as t, filter(arr, x -> x > st.p) as f, aggregate(arr, 0, (a, x) -> a + x, a -> a * 2) as g, exists(arr, x -> x > 7) as ex, forall(arr, x -> x < 9) as fa, zip_with(arr, array(1, 2, 3), (a, b) -> a * b) as z, map_filter(m, (k, v) -> v > who % 5) as mf, transform_values(m, (k, v) -> v + st.r.z) as tv, array_sort(arr, (a, b) -> b - a) as srt from events
-- lists and maps
select eid, array_distinct(arr) as a, array_union(arr, array(1)) as b, slice(arr, 1, who) as c, sequence(1, size(arr) + 1) as d, arrays_zip(arr, sts) as e, flatten(array(arr, arr)) as f, sort_array(arr) as g, array_position(arr, st.p) as h, map_from_arrays(array('x'), array(who)) as i, map_concat(m, map('zz', who)) as j, cardinality(m) as k from events where who > 0
-- json
select eid, get_json_object(js, '$.a') as a, from_json(js, 'a int, b string').b as b, to_json(st) as tj from events
-- variant
select eid, variant_get(parse_json(js), '$.a', 'int') as v, is_variant_null(parse_json(js)) as n, to_json(parse_json(js)) as t from events
-- arithmetic
select oid, amount / qty as d, pmod(qty, 3) as p, amount % qty as m, try_divide(amount, qty - 4) as t, least(amount, qty, oid) as l, sign(qty - 5) as s, -qty as n, qty & 3 as ba, shiftleft(qty, 2) as sl from orders
-- predicates
select oid, item in ('pen', note) as a, qty is null as b, amount is not null and qty > 2 as c, item <=> note as d, not (qty between 2 and 5) as e, status like item || '%' as f, equal_null(item, status) as g from orders
-- case with many branches
select oid, case when qty > 7 then item when amount < 10 then note when status in ('N', 'S') then cast(day as string) end as x from orders
-- filter by an expression
select oid, amount from orders where coalesce(item, note) > 'c' and (qty > 2 or status = 'N')
-- binary and bits
select oid, hex(item) as h, base64(encode(note, 'utf-8')) as b, bit_count(qty) as c, crc32(status) as k, length(item) as l from orders
-- current things
select oid, current_date() is not null as d, typeof(amount) as t, 1 as one from orders where false or qty = 1
-- choices between literals
select oid, if(amount > 50, 1, 2) as i, nvl2(item, 'y', 'n') as n, if(qty > 2, amount + 1, amount + 2) as p, if(status = 'N', substr(item, 1, 1), substr(item, 2, 1)) as s, if(cust > 2, cast(note as string), upper(note)) as u from orders where if(qty > 0, true, false) order by if(amount > 70, 1, 2), oid limit 9
-- groups and sums of choices between literals
select if(status = 'N', 'new', 'old') as st, sum(if(amount > 50, 1, 0)) as big, max(if(qty > 2, 'many', 'few')) as m from orders group by if(status = 'N', 'new', 'old')
-- a join by a choice between literals
select o.oid, c.city from orders o join customers c on c.tier = if(o.amount > 50, 1, 2)
