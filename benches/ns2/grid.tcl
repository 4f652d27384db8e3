# One flow over one link, without an end to its data: the ns-2 side of benches/ns2/grid.py.
# usage: ns grid.tcl NAME VALUE ...
# Prints goodput in kbit/s, timeouts and fast retransmits.
#
# Beside what bulk.tcl says: the defaults of RED are not those of its paper.

source [file join [file dirname [info script]] senders.tcl]

foreach {name value} {sender newreno rate 2 rtt 100 loss 0 queue 50 red 0 ecn 0 duration 100 seed 1} {
    set $name $value
}
foreach {name value} $argv { set $name $value }

seed $seed
Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set linterm_ 10
Queue/RED set q_weight_ 0.002
Queue/RED set gentle_ true
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set use_mark_p_ false
Queue/RED set setbit_ $ecn

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right [expr $rate]Mb [expr $rtt / 2.0]ms [expr {$red ? "RED" : "DropTail"}]
$ns simplex-link $right $left [expr $rate]Mb [expr $rtt / 2.0]ms DropTail
$ns queue-limit $left $right [expr $queue + 1]
$ns queue-limit $right $left 1000000

set errors [new ErrorModel]
$errors unit pkt
$errors set rate_ $loss
$errors ranvar [new RandomVariable/Uniform]
$errors drop-target [new Agent/Null]
$ns link-lossmodel $errors $left $right

set tcp [transfer $ns $sender $left $right 0]
$tcp set ecn_ $ecn

proc finish {} {
    global tcp duration
    set timeouts [$tcp set nrexmit_]
    set fast [expr [$tcp set ncwndcuts_] - $timeouts - [$tcp set necnresponses_]]
    puts "goodput_kbps=[expr 8.0 * [acknowledged $tcp] / $duration] timeouts=$timeouts fast_retransmits=$fast"
    exit 0
}
$ns at $duration "finish"
$ns run
