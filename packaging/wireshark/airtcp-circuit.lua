-- Dissector of a TCP circuit's control protocol (docs/circuit-wire.md), for Wireshark and tshark:
--   tshark -r capture.pcapng -X lua_script:airtcp-circuit.lua -Y aircircuit
-- Receivers use UDP ports 4007 to 4038.

local circuit = Proto("aircircuit", "airtcp circuit")
local KINDS = {
  [0] = "repair", [1] = "HELLO", [2] = "WELCOME", [3] = "header packet", [4] = "compressed header packet",
  [5] = "ACK", [6] = "PING", [7] = "PONG",
}
local FLAGS = { { 0x002, "SYN" }, { 0x008, "PSH" }, { 0x010, "ACK" }, { 0x040, "ECE" }, { 0x080, "CWR" }, { 0x800, "ELN" } }
local HAS_TIMESTAMPS, STANDS_FOR_DATA, REPEATS = 0x1000, 0x2000, 0x4000

local f = circuit.fields
f.kind = ProtoField.uint8("aircircuit.kind", "Kind", base.DEC, KINDS, 0xe0)
f.control = ProtoField.uint8("aircircuit.control", "Control TCP", base.DEC, nil, 0x1f)
f.version = ProtoField.uint8("aircircuit.version", "Version")
f.vmss = ProtoField.uint16("aircircuit.vmss", "VMSS in bytes")
f.controls = ProtoField.uint8("aircircuit.controls", "Control TCPs")
f.number = ProtoField.uint24("aircircuit.number", "Number, low bits")
f.bits = ProtoField.uint16("aircircuit.bits", "Bits", base.HEX)
f.fec = ProtoField.uint8("aircircuit.fec", "Header packets that each one repeats, at most")
f.repeats = ProtoField.uint8("aircircuit.repeats", "Header packets that it repeats")
f.seq = ProtoField.uint32("aircircuit.seq", "Sequence number")
f.ack = ProtoField.uint32("aircircuit.ack", "Acknowledgment number")
f.window = ProtoField.uint16("aircircuit.window", "Window, or count of data packets")
f.tsval = ProtoField.uint32("aircircuit.tsval", "TSval")
f.tsecr = ProtoField.uint32("aircircuit.tsecr", "TSecr")
f.sources = ProtoField.uint16("aircircuit.sources", "Data packets that it covers")
f.first = ProtoField.uint32("aircircuit.first", "Number of the first of them")
f.tag = ProtoField.bytes("aircircuit.tag", "Tag")

-- One bit, without the operators that older Lua lacks.
local function has(word, flag)
  return word % (2 * flag) >= flag
end

local function timestamps(buffer, tree, at)
  tree:add(f.tsval, buffer(at, 4))
  tree:add(f.tsecr, buffer(at + 4, 4))
end

local function whole(buffer, tree, kind)
  local bits, said = buffer(4, 2):uint(), {}
  for _, flag in ipairs(FLAGS) do
    if has(bits, flag[1]) then said[#said + 1] = flag[2] end
  end
  if has(bits, STANDS_FOR_DATA) then said[#said + 1] = "stands for data" end
  tree:add(f.number, buffer(1, 3))
  tree:add(f.bits, buffer(4, 2)):append_text(" (" .. table.concat(said, ", ") .. ")")
  if kind == 3 then tree:add(f.repeats, buffer(4, 1), math.floor(bits / REPEATS)) end
  tree:add(kind == 3 and f.seq or f.ack, buffer(6, 4))
  tree:add(f.window, buffer(10, 2))
  if has(bits, HAS_TIMESTAMPS) then timestamps(buffer, tree, 12) end
  return " " .. (kind == 3 and "seq " or "ack ") .. buffer(6, 4):uint() .. " [" .. table.concat(said, ", ") .. "]"
end

function circuit.dissector(buffer, packet, root)
  local len = buffer:len()
  if len < 7 then return 0 end
  local kind = math.floor(buffer(0, 1):uint() / 32)
  if not KINDS[kind] then return 0 end
  local tree, info = root:add(circuit, buffer()), KINDS[kind]
  tree:add(f.kind, buffer(0, 1))
  tree:add(f.control, buffer(0, 1))
  if (kind == 1 or kind == 2) and len == 32 then
    tree:add(f.version, buffer(1, 1))
    if kind == 1 then
      tree:add(f.vmss, buffer(2, 2))
      tree:add(f.controls, buffer(4, 1))
      tree:add(f.fec, buffer(7, 1))
    end
    tree:add(f.tag, buffer(24, 8))
  elseif (kind == 3 or kind == 5) and len >= 16 then
    info = info .. whole(buffer, tree, kind)
    tree:add(f.tag, buffer(len - 4, 4))
  elseif kind == 0 and len >= 22 then
    tree:add(f.number, buffer(1, 3))
    tree:add(f.sources, buffer(6, 2))
    tree:add(f.first, buffer(8, 4))
    tree:add(f.tag, buffer(len - 4, 4))
    info = info .. " of " .. buffer(6, 2):uint() .. " from " .. buffer(8, 4):uint()
  elseif kind == 4 then
    if len == 17 or len == 9 then tree:add(f.window, buffer(3, 2)) end
    if len >= 15 then timestamps(buffer, tree, len - 12) end
    tree:add(f.tag, buffer(len - 4, 4))
  end
  packet.cols.protocol = "circuit"
  packet.cols.info = info
  return len
end

local ports = DissectorTable.get("udp.port")
for port = 4007, 4038 do ports:add(port, circuit) end
