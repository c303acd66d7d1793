import type { Container, ResponseOf } from '@crux/contract'
import { containerName } from './containers.ts'

type NodeEvent = ResponseOf<'nodes.audit'>['items'][number]
type Command = { operation?: string; container?: { prefix: string; name: string }; user?: { name: string } }

/**
 * Finds the user that stopped an exited container: the newest command for it was a stop, given since it last started. Undefined for one that
 * ended by itself.
 *
 * @param events the node's container commands, newest first
 */
export function stoppedBy(container: Container, events: readonly NodeEvent[]): string | undefined {
  if (container.state !== 'exited') return undefined
  const name = containerName(container)
  const last = events.find(({ event, data }) => {
    const command = (data ?? {}) as Command
    return event === 'containerCommand' && command.container && containerName({ id: command.container }) === name
  })
  const command = last?.data as Command | undefined
  if (command?.operation !== 'stopContainer' || !last) return undefined
  const isSince = !container.startedAt || Date.parse(last.createdAt) >= Date.parse(container.startedAt)
  return isSince ? command.user?.name : undefined
}
