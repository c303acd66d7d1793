import { connect } from 'node:net'

/** Requests a page from a port every 5 ms, each time over a new connection, and sends the longest time between two answers to its parent. */
const port = Number(process.argv[2])
const everyMs = 5
let last: number | undefined
let longest = 0

function answered(): void {
  const at = performance.now()
  if (last === undefined) process.send?.('watching')
  else longest = Math.max(longest, at - last)
  last = at
}

const timer = setInterval(() => {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.0\r\n\r\n'))
  socket.setTimeout(2_000, () => socket.destroy())
  socket.once('data', answered)
  // A refused or broken connection is no answer: the time continues.
  socket.on('error', () => undefined)
  socket.on('end', () => socket.destroy())
}, everyMs)

process.once('message', () => {
  clearInterval(timer)
  process.send?.(longest, () => process.exit())
})
