# ns-2's senders by the names of benches/ns2/senders.py.
#
# Beside what bulk.tcl says: Vegas ignores useHeaders_, packetSize_ is all there is on the wire.

# An endless transfer of 1040-byte packets from one node to another, which begins at a time of its own.
proc transfer {ns sender from to start} {
    set classes {tahoe Agent/TCP reno Agent/TCP/Reno newreno Agent/TCP/Newreno sack Agent/TCP/Sack1 vegas Agent/TCP/Vegas}
    if {[dict exists $classes $sender]} {
        set tcp [new [dict get $classes $sender]]
    } else {
        set tcp [new Agent/TCP/Linux]
        $tcp set timestamps_ true
        $ns at 0 "$tcp select_ca $sender"
    }
    if {$sender eq "sack" || ![dict exists $classes $sender]} {
        set sink [new Agent/TCPSink/Sack1]
    } else {
        set sink [new Agent/TCPSink]
    }
    $tcp set window_ 10000
    $tcp set packetSize_ [expr {$sender eq "vegas" ? 1040 : 1000}]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    return $tcp
}

# The number of packets that were acknowledged.
proc acknowledged {tcp} { return [expr [$tcp set ack_] + 1] }

# Substreams of the random numbers are stepped by hand.
proc seed {number} {
    global defaultRNG
    for {set i 1} {$i < $number} {incr i} { $defaultRNG next-substream }
}
