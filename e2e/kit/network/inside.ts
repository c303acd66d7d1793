import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'

/**
 * Runs inside of a network namespace that own-network.ts made, and keeps it as long as that process lives. Gives it an interface, without
 * which a browser counts as offline, and hands a listening socket out: whoever accepts its connections lives in the other network.
 */
for (const command of [
  'link set lo up',
  'link add inside type veth peer name outside',
  'link set outside up',
  'link set inside up',
])
  execFileSync('ip', command.split(' '), { stdio: 'inherit' })

process.once('disconnect', () => process.exit())
const server = createServer()
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('listening', server, () => server.close()))
// Without a socket of its own only the channel to its parent keeps it.
process.channel?.ref()
