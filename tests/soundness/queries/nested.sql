-- access
select eid, st.r.z as z, st.*, m['a'] as ma, try_element_at(arr, 1) as e1, size(arr) as sz, map_keys(m) as mk, named_struct('x', st.p, 'y', who) as ns, sts.q as qs, try_element_at(sts, 1).r.z as zz from events
-- struct and back
select s.x, s.y.k from (select struct(oid as x, struct(item as k, qty as l) as y) as s from orders)
-- one part of a struct
select s.y from (select named_struct('x', oid, 'y', amount) as s from orders) where s.y > 10
-- all parts
select s.* from (select struct(item, qty, status) as s from orders)
-- struct through a union
select s.a as a, s.b as b from (select struct(item as a, qty as b) as s from orders union all select struct(name as a, stock as b) from items)
-- struct through a group
select m.item as i, m.amount as a from (select cust, max(struct(amount, item)) as m from orders group by cust)
-- list of structs
select transform(l, x -> x.b) as bs, l.a as as_, l[0].a as a0 from (select array(struct(item as a, qty as b), struct(note as a, 1 as b)) as l from orders)
-- exploded structs
select e.k, e.v from (select explode(array(struct(item as k, amount as v), struct(note as k, oid as v))) as e from orders)
-- collected structs
select item, transform(array_sort(collect_list(struct(oid, amount))), x -> x.amount) as l from orders group by item
-- struct through a window
select oid, f.b as b from (select oid, first(struct(item as a, note as b)) over (partition by status order by oid) as f from orders)
-- struct in a case
select oid, x.a as a from (select oid, case when qty > 3 then struct(item as a, amount as b) else struct(note as a, 1.0 as b) end as x from orders)
-- struct through coalesce
select oid, x.b as b from (select oid, coalesce(if(qty > 3, struct(item as a, amount as b), null), struct(note as a, 1.0 as b)) as x from orders)
-- struct to columns and json
select s.a as a, to_json(s) as j, s is null as n from (select struct(item as a, qty as b) as s from orders)
-- compared structs
select oid from orders where struct(item, qty) > struct('ink', 3)
-- struct in a join
select a.s.i as i, b.price from (select struct(oid as i, item as n) as s from orders) a join items b on a.s.n = b.name
-- map of structs
select m2['x'].a as a from (select map('x', struct(item as a, qty as b)) as m2 from orders)
-- lambdas take fields of elements one by one
select oid, aggregate(l, 0D, (acc, x) -> acc + x.p * x.q) as total, exists(l, x -> x.q > 3) as many, transform(l, (x, i) -> struct(x.r as v, i as n))[0].v as first,
 zip_with(l, l, (a, b) -> a.p + b.q) as z, transform(filter(l, x -> x.q > 3), x -> x.r) as rs, transform(l, x -> transform(array(x.p), y -> y + x.q)) as ys, transform(l, x -> 1) as ones,
 array_max(transform(l, x -> x.p)) as top
 from (select oid, array(struct(amount as p, qty as q, item as r), struct(1.0D as p, 1 as q, note as r)) as l from orders)
-- lambdas over maps of structs
select oid, transform_values(m, (k, v) -> v.p) as ps, map_filter(m, (k, v) -> v.q > 3)['x'].p as fp, transform_keys(m, (k, v) -> concat(k, '!'))['x!'].q as q, map_zip_with(m, m, (k, a, b) -> a.p + b.q) as z
 from (select oid, map('x', struct(amount as p, qty as q)) as m from orders)
-- the largest and the first of structs are decided by their first fields
select cust, element_at(array_sort(collect_list(struct(amount, item, oid))), 1).item as i, sort_array(collect_list(struct(amount, item, oid)))[0].oid as o, min(struct(amount, item, oid)).amount as a,
 max(struct(item, amount)).amount as b, array_max(collect_set(struct(qty, item))).item as c, sort_array(collect_set(struct(qty, item)).item) as d from orders group by cust
-- elements put together and taken apart
select oid, concat(array(struct(item as a, qty as b)), array(struct(note as a, 2 as b)))[1].a as c, reverse(array(struct(item as a, qty as b)))[0].b as r, array_distinct(array(struct(item as a, qty as b), struct(note as a, 2 as b))).b as d from orders
-- fields of structs in arrays of arrays, and in maps
select oid, flatten(array(array(struct(item as a, qty as b)), array(struct(note as a, 2 as b))))[1].a as f, map_values(map('x', struct(item as a, qty as b)))[0].b as m, map_concat(map('x', struct(item as a, qty as b)), map('y', struct(note as a, 1 as b)))['y'].a as c,
 map_from_arrays(array('x', 'y'), array(struct(item as a, qty as b), struct(note as a, 1 as b)))['x'].b as fa, get(array(struct(item as a, qty as b)), 0).a as g from orders
-- fields of elements that are added, repeated and left out
select oid, array_append(array(struct(item as a, qty as b)), struct(note as a, 2 as b))[1].a as ap, array_prepend(array(struct(item as a, qty as b)), struct(note as a, 2 as b))[1].b as pr, array_insert(array(struct(item as a, qty as b)), 1, struct(note as a, 2 as b))[0].a as ins,
 array_compact(array(if(qty > 3, struct(item as a, qty as b), null), struct(note as a, 2 as b)))[0].a as co, size(array_repeat(struct(item as a, amount as b), qty).a) as re from orders
-- zipped arrays
select oid, z.a as a, z.b as b, z.c as c from (select oid, explode(arrays_zip(a, b, c)) as z from
 (select oid, array(item, note) as a, array(amount) as b, sequence(1, qty) as c from orders))
-- fields of zipped arrays that are not exploded
select oid, arrays_zip(array(item, note), sequence(1, qty))['0'] as i, size(arrays_zip(array(item), sequence(1, qty))) as n from orders
