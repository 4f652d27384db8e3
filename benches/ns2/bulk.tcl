# Bulk NewReno flows through one duplex link: the ns-2 side of benches/run.py.
# usage: ns bulk.tcl FLOWS RATE_MBIT RTT_MS LOSS QUEUE_PACKETS STAGGER_S DURATION_S
# Prints the data packets that were delivered in order, retransmissions not counted twice.
#
# What would otherwise make the comparison unfair:
# - all flows share one pair of hosts: routes grow with the square of the number of nodes;
# - window_ defaults to 20 packets, which would limit every flow;
# - DropTail with `queue-limit L` holds L-1 packets;
# - `link-lossmodel` stands behind the link, so that a lost packet has used it (`lossmodel` stands before it);
# - packetSize_ 1000 is 1040 bytes on the wire.

foreach {name value} [list flows 1 rate 100 rtt 20 loss 0 queue 240 stagger 0 duration 10] {
    set $name $value
}
foreach name {flows rate rtt loss queue stagger duration} value $argv { set $name $value }

ns-random 1
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right [expr $rate]Mb [expr $rtt / 2.0]ms DropTail
$ns queue-limit $left $right [expr $queue + 1]
$ns queue-limit $right $left 1000000

if {$loss > 0} {
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar [new RandomVariable/Uniform]
    $errors drop-target [new Agent/Null]
    $ns link-lossmodel $errors $left $right
}

for {set i 0} {$i < $flows} {incr i} {
    set tcp($i) [new Agent/TCP/Newreno]
    $tcp($i) set window_ 1000000
    $tcp($i) set packetSize_ 1000
    set sink [new Agent/TCPSink]
    $ns attach-agent $left $tcp($i)
    $ns attach-agent $right $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [expr $stagger * $i / double($flows)] "$ftp start"
}

proc finish {} {
    global tcp flows
    set delivered 0
    set retransmitted 0
    for {set i 0} {$i < $flows} {incr i} {
        incr delivered [expr [$tcp($i) set ack_] + 1]
        incr retransmitted [$tcp($i) set nrexmitpack_]
    }
    puts "delivered=$delivered retransmitted=$retransmitted"
    exit 0
}
$ns at $duration "finish"
$ns run
