-- row number
select oid, row_number() over (partition by cust order by day, oid) as rn from orders
-- frame of rows
select oid, sum(amount) over (partition by item order by day, oid rows between 2 preceding and current row) as s from orders
-- frame of values
select oid, avg(qty) over (order by day range between interval 5 days preceding and current row) as a from orders
-- lag ignoring nulls
select oid, lag(status) ignore nulls over (partition by cust order by oid) as l, lead(amount, 2, 0) over (order by oid) as le from orders
-- named windows
select oid, count(*) over w as c, last(item) ignore nulls over w as li, nth_value(note, 2) over (partition by cust order by oid rows between 3 preceding and 1 following) as n from orders window w as (partition by cust order by oid)
-- tiles and distribution
select oid, ntile(3) over (order by amount desc, oid) as nt, cume_dist() over (order by qty) as cd, percent_rank() over (partition by item order by amount) as pr from orders
-- ranks
select oid, rank() over (order by qty) as r, dense_rank() over (order by day) as dr, first_value(note) over (partition by cust order by day desc, oid) as fv from orders
-- by aggregate
select oid, max_by(item, amount) over (partition by qty) as mb from orders
-- filter by rank
select * from (select oid, cust, amount, rank() over (partition by cust order by amount desc) as r from orders) where r <= 2
-- over groups
select item, sum(sum(amount)) over (order by item) as run, rank() over (order by count(*) desc) as r from orders group by item
-- share of the whole
select oid, amount - avg(amount) over (partition by item) as diff, amount / nullif(sum(amount) over (), 0) as share from orders
-- window of a window
select oid, sum(rn) over (partition by status) as s from (select oid, status, row_number() over (partition by item order by oid) as rn from orders)
-- collected
select oid, collect_list(qty) over (partition by cust order by oid rows between 1 preceding and 1 following) as l from orders
