import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'

/**
 * Runs inside a network namespace that own-network.ts created, and keeps it while this process runs. Creates an interface, without which a browser
 * counts as offline, and sends a listening socket to the parent, which accepts its connections in the other network.
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
// The process has no socket of its own, so only the channel to its parent keeps it running.
process.channel?.ref()
