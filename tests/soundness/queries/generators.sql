-- position and value
select eid, x, pos from events lateral view posexplode(arr) e as pos, x where x > 2
-- outer of a map and of a list
select eid, k, v, x from events lateral view outer explode(m) mm as k, v lateral view outer explode(filter(arr, a -> a > v)) e as x
-- stack in a view
select oid, k, v from orders lateral view stack(2, 'a', amount, 'q', cast(qty as double)) s as k, v
-- stack in a projection
select stack(2, oid, amount, oid, cast(qty as double)) as (id, v) from orders
-- stack of three with rest
select s.* from orders o, lateral stack(3, o.oid, o.item, bigint(o.qty), o.note, o.cust) s
-- stack of constants
select * from stack(2, 1, 3, 2, 4) as t (a, b) cross join items
-- json tuple
select eid, x, y from events lateral view json_tuple(js, 'a', 'b') j as x, y
-- list of columns
select oid, x from orders lateral view explode(array(amount, qty)) e as x
-- map of columns
select oid, k, v from orders lateral view explode(map('x', amount, 'y', qty)) l as k, v
-- list of structs
select eid, p, q from events lateral view inline(sts) s as p, q, i
-- list of built structs
select oid, a, b from orders lateral view inline(array(struct(item, amount), struct(status as item, double(qty) as amount))) l as a, b
-- position among columns
select posexplode(array(item, note)) as (p, c) from orders where qty > 1
-- explode in a projection
select eid, explode(arr) as x, bits from events
-- sequence
select oid, explode(sequence(1, least(qty, 3))) as s from orders where qty is not null
-- generator of a generator
select eid, s.p, x from events lateral view explode(sts) t as s lateral view explode(array(s.p, s.r.z)) u as x
-- explode and group
select x, count(*) as n, sum(who) as w from (select explode(arr) as x, who from events) group by x
