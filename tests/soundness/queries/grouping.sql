-- group by
select item, sum(amount) as s, count(*) as n from orders group by item
-- group by an expression
select month(day) as mo, qty % 3 as k, max(amount) as m from orders group by month(day), qty % 3
-- group by all
select item, qty % 2 as o, sum(amount) as s from orders group by all order by all
-- whole table
select count(*) as n, count(item) as ci, sum(amount) as s, count(distinct cust) as cd, max(struct(amount, oid)).oid as mo from orders where status <> 'X'
-- rollup
select item, status, grouping_id() as g, grouping(item) as gi, sum(amount) as s, count(*) as c from orders group by rollup (item, status)
-- cube with having
select item, month(day) as mo, sum(qty) as s from orders group by cube (item, month(day)) having sum(amount) > 100
-- grouping sets
select item, status, cust % 3 as m, grouping_id(item, status, cust % 3) as g, max(day) as d from orders group by grouping sets ((item, status), (status, cust % 3), ())
-- grouping in a case
select case when grouping(item) = 1 then 'all' else item end as it, avg(qty) as q from orders group by rollup (item)
-- mixed grouping
select item, status, qty, count(*) as n from orders where oid < 60 group by item, cube (status, qty)
-- several distinct counts
select item, count(distinct cust) as a, count(distinct status, qty) as b, sum(distinct qty) as c from orders group by item
-- distinct with filter
select item, count(distinct cust) filter (where qty > 2) as a, count(distinct status) as b from orders group by item
-- filtered aggregates
select cust, sum(amount) filter (where status = 'N') as sf, count(*) filter (where qty > 3) as cf, max(note) as m from orders group by cust
-- many aggregates
select cust, count_if(amount > 50) as ci, max_by(item, amount) as mb, percentile(amount, 0.5) as p, median(qty) as md,
 collect_list(item) as cl, approx_count_distinct(note) as acd, first(item, true) as fi, last(status) ignore nulls as li, mode(item) as mo,
 array_agg(qty) as aa, bool_or(amount > 90) as bo, any_value(note) as av, min_by(struct(oid, item), day) as mn, bit_xor(qty) as bx, try_sum(qty) as ts
from orders group by cust
-- statistics
select item, corr(amount, qty) as co, covar_pop(amount, qty) as cv, regr_slope(amount, qty) as rs, skewness(amount) as sk, stddev(qty) as sd, regr_count(amount, qty) as rc, avg(amount) as av from orders group by item
-- ordered sets
select cust, percentile_cont(0.3) within group (order by amount) as pc, percentile_disc(0.5) within group (order by amount desc) as pd, mode() within group (order by qty) as mo from orders group by cust
-- listagg
select cust, listagg(status, ',') within group (order by oid) as la, string_agg(distinct item, ';') as sa from orders group by cust
-- sketches
select item, hll_sketch_estimate(hll_sketch_agg(cust)) as h, approx_percentile(amount, array(0.1, 0.9)) as ap, histogram_numeric(qty, 3) as hn from orders group by item
-- having alone
select item from orders group by item having count(distinct status) > 3 and max(qty) > 2
-- having with a subquery
select item, sum(amount) as s from orders group by item having sum(amount) > (select avg(price) * 50 from items where cat is not null)
-- exists in having
select cust, count(*) as n from orders o group by cust having exists (select 1 from customers c where c.cid = o.cust and c.tier = 2)
-- aggregate of a subquery
select first((select max(price) from items i where i.name = o.item)) as mp, sum(qty) as sq from orders o group by o.item
-- sorted lists
select item, array_join(transform(array_sort(collect_list(struct(day, oid))), x -> x.oid), ',') as l, slice(sort_array(collect_list(amount)), 1, 2) as s from orders group by item
-- map of groups
select status, map_from_entries(collect_list(struct(oid, item))) as m from orders group by status
-- collation
select lower(cname collate utf8_lcase) as c, count(*) as n from customers group by cname collate utf8_lcase
-- pivot
select * from (select cust, item, amount, qty from orders) pivot (sum(amount) as a, max(qty) as q for item in ('pen', 'ink' i2))
-- pivot by two columns
select * from (select status, item, qty % 2 as odd, note from orders) pivot (collect_list(note) for (item, odd) in (('pen', 0) p0, ('ink', 1) i1))
-- unpivot
select * from (select oid, amount, cast(qty as double) as qty from orders) unpivot (val for what in (amount, qty as q))
-- unpivot of pairs with nulls
select * from (select oid, amount, cast(qty as double) as qty, item, note from orders) unpivot include nulls ((val, txt) for what in ((amount, item) as a, (qty, note) as b))
-- time windows
select window.start as s, count(*) as n, sum(who) as w from events group by window(ts, '1 day') order by s
-- session windows
select session_window.start as s, who, count(*) as n from events group by session_window(ts, '2 days'), who
-- more columns than Spark prints
select c.*, s0 + s29 as t from (select cust, sum(case when qty = 0 then amount else oid * 0 end) as s0, sum(case when qty = 1 then amount else oid * 1 end) as s1, sum(case when qty = 2 then amount else oid * 2 end) as s2, sum(case when qty = 3 then amount else oid * 3 end) as s3, sum(case when qty = 4 then amount else oid * 4 end) as s4, sum(case when qty = 5 then amount else oid * 5 end) as s5, sum(case when qty = 6 then amount else oid * 6 end) as s6, sum(case when qty = 7 then amount else oid * 7 end) as s7, sum(case when qty = 8 then amount else oid * 8 end) as s8, sum(case when qty = 9 then amount else oid * 9 end) as s9, sum(case when qty = 10 then amount else oid * 10 end) as s10, sum(case when qty = 11 then amount else oid * 11 end) as s11, sum(case when qty = 12 then amount else oid * 12 end) as s12, sum(case when qty = 13 then amount else oid * 13 end) as s13, sum(case when qty = 14 then amount else oid * 14 end) as s14, sum(case when qty = 15 then amount else oid * 15 end) as s15, sum(case when qty = 16 then amount else oid * 16 end) as s16, sum(case when qty = 17 then amount else oid * 17 end) as s17, sum(case when qty = 18 then amount else oid * 18 end) as s18, sum(case when qty = 19 then amount else oid * 19 end) as s19, sum(case when qty = 20 then amount else oid * 20 end) as s20, sum(case when qty = 21 then amount else oid * 21 end) as s21, sum(case when qty = 22 then amount else oid * 22 end) as s22, sum(case when qty = 23 then amount else oid * 23 end) as s23, sum(case when qty = 24 then amount else oid * 24 end) as s24, sum(case when qty = 25 then amount else oid * 25 end) as s25, sum(case when qty = 26 then amount else oid * 26 end) as s26, sum(case when qty = 27 then amount else oid * 27 end) as s27, sum(case when qty = 28 then amount else oid * 28 end) as s28, sum(case when qty = 29 then amount else oid * 29 end) as s29 from orders group by cust) c where s28 > 1
