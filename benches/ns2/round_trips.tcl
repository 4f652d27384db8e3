# Flows of one sender over access links of their own, then one link that they share: the ns-2 side of
# benches/ns2/round_trips.py.
# usage: ns round_trips.tcl NAME VALUE ...; `delays` lists the one-way delays of the access links in ms.
# Prints each flow's goodput after the warm-up in kbit/s.

source [file join [file dirname [info script]] senders.tcl]

foreach {name value} {
    sender newreno rate 50 delay 2 queue 250 delays {3 98} access 10000 overhead 0 within 0.1 warmup 20 duration 120 seed 1
} {
    set $name $value
}
foreach {name value} $argv { set $name $value }

seed $seed
Agent/TCP set overhead_ $overhead
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right [expr $rate]Mb [expr $delay]ms DropTail
$ns queue-limit $left $right [expr $queue + 1]
$ns queue-limit $right $left [expr $queue + 1]

set starts [new RandomVariable/Uniform]
$starts set min_ 0
$starts set max_ $within
set senders {}
foreach own $delays {
    set node [$ns node]
    $ns duplex-link $node $left [expr $access]Mb [expr $own]ms DropTail
    $ns queue-limit $node $left 1000000
    $ns queue-limit $left $node 1000000
    lappend senders [transfer $ns $sender $node $right [$starts value]]
}

proc warm {} {
    global senders before
    foreach tcp $senders { set before($tcp) [acknowledged $tcp] }
}

proc finish {} {
    global senders before warmup duration
    set flow 0
    foreach tcp $senders {
        puts "flow$flow=[expr 8.0 * ([acknowledged $tcp] - $before($tcp)) / ($duration - $warmup)]"
        incr flow
    }
    exit 0
}
$ns at $warmup "warm"
$ns at $duration "finish"
$ns run
