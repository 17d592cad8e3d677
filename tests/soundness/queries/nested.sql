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
