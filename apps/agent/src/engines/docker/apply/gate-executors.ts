import { connect } from 'node:net'
import { guarded } from '@crux/service-kit'
import { orAborted, pause } from '../../../concurrency/pause.ts'
import { PlanError, undefinedIfMissing } from '../../../errors.ts'
import type { ObservedContainer } from '../containers/container-engine.ts'
import { GateError } from '../gate/errors.ts'
import { gatePorts, getAddress, portKeys } from '../gate/reconcile.ts'
import { portTaken } from '../plan/clashes.ts'
import type { StepOf } from '../plan/steps.ts'
import { type ExecutorsOf, getParts, type StepContext } from './release-context.ts'

/** How long a port may stay closed that the previous container did not have open either. */
const optionalPortMs = 5_000
const knockEveryMs = 50
/** Time for the answers that a container is still sending when it must stop. It is short because clients of every service wait during it. */
const lastAnswersMs = 1_000
const knockTimeoutMs = 1_000

export const gateExecutors: ExecutorsOf<
  'gate.reserve' | 'gate.suspend' | 'gate.wait' | 'gate.route' | 'gate.release' | 'gate.drain'
> = {
  'gate.reserve': reservePorts,
  'gate.suspend': suspendPorts,
  'gate.wait': waitForPorts,
  'gate.route': routePorts,
  'gate.release': releasePorts,
  'gate.drain': drainPreviousContainers,
}

async function reservePorts({ instanceId, ports }: StepOf<'gate.reserve'>, context: StepContext): Promise<void> {
  const prefix = context.release.owner?.prefix ?? ''
  const entries = gatePorts({ id: '', labels: {}, networks: [], state: 'created' }, ports)
  const reserved = entries.map((entry) => ({ ...entry, prefix }))
  await translateGateErrors(instanceId, context, () => context.node.gate.apply(reserved, []))
}

async function suspendPorts(
  { previous, instanceId, ports }: StepOf<'gate.suspend'>,
  context: StepContext,
): Promise<void> {
  const seen = await context.node.driver.engine.observe(previous.id).catch(undefinedIfMissing)
  if (!seen) return
  const suspended = gatePorts(seen, ports).map((port) => ({ ...port, target: '' }))
  await translateGateErrors(instanceId, context, () => context.node.gate.apply(suspended, []))
  await context.node.gate.drain(previous.id, lastAnswersMs)
}

/**
 * A running container may not listen yet. Where the previous container listens, the new one must listen before it gets connections; a port
 * that was closed before may stay closed, and a warning reports that.
 */
async function waitForPorts({ instanceId, ports, previous }: StepOf<'gate.wait'>, context: StepContext): Promise<void> {
  const { instance, expected } = getParts(context, instanceId)
  if (expected.kind !== 'running') return
  const full = instance.full
  const began = performance.now()
  const id = context.state.containers.get(instanceId) ?? ''
  for (const { containerPort } of ports) {
    let required: boolean | undefined
    for (;;) {
      context.signal.throwIfAborted()
      const seen = await context.node.driver.engine.observe(id)
      if (seen.state !== 'running')
        throw new PlanError(instanceId, `${full} ended before it listened on port ${containerPort}`)
      const heard = await probePort(getAddress(seen), containerPort)
      if (heard === 'open') break
      required ??= previous !== undefined && (await answers(context, previous.id, containerPort))
      const waited = performance.now() - began
      if (heard === 'nothing' && waited >= optionalPortMs) {
        throw new PlanError(
          instanceId,
          `the gate cannot reach ${full} at ${getAddress(seen)}: ports that stay open need an engine whose networks this machine reaches, not a rootless one`,
        )
      }
      if (required && waited >= expected.timeoutMs) {
        throw new PlanError(
          instanceId,
          `${full} did not listen on port ${containerPort} within ${Math.round(expected.timeoutMs / 1_000)} s, and the previous one does`,
        )
      }
      if (!required && waited >= optionalPortMs) {
        context.progressReporter.warn(
          instanceId,
          `${full} does not listen on port ${containerPort} yet: connections are refused`,
        )
        break
      }
      await pause(knockEveryMs, context.signal)
    }
  }
}

async function routePorts(
  { target, instanceId, ports, instead }: StepOf<'gate.route'>,
  context: StepContext,
): Promise<void> {
  const id = target.kind === 'new' ? context.state.containers.get(target.instanceId) : target.id
  const seen = id === undefined ? undefined : await context.node.driver.engine.observe(id).catch(undefinedIfMissing)
  if (!seen || (target.kind === 'previous' && getAddress(seen) === '')) return
  await translateGateErrors(instanceId, context, () =>
    context.node.gate.apply(gatePorts(seen, ports), portKeys(instead)),
  )
  const list = ports.map(({ hostPort }) => hostPort).join(', ')
  if (target.kind === 'new')
    context.progressReporter.info(instanceId, `the gate leads port ${list} to the new ${getName(seen)}`)
}

async function releasePorts({ ports }: StepOf<'gate.release'>, context: StepContext): Promise<void> {
  // A gate that does not run holds no port.
  if (await context.node.gate.readState())
    await translateGateErrors('', context, () => context.node.gate.apply([], portKeys(ports)))
}

/** Drains all containers at once: each has its own timeout and does not wait for another one. */
async function drainPreviousContainers(
  { previousContainers }: StepOf<'gate.drain'>,
  context: StepContext,
): Promise<void> {
  await Promise.all(
    previousContainers.map(async ({ id, name, instanceId, ms }) => {
      const connections = await context.node.gate.drain(id, 0)
      if (connections === 0) return
      const open = (count: number) => `${count} open connection${count === 1 ? '' : 's'} to the previous ${name}`
      context.progressReporter.info(instanceId, `waits at most ${ms / 1_000} s for ${open(connections)}`)
      const left = await orAborted(context.node.gate.drain(id, ms), context.signal)
      if (left > 0) context.progressReporter.warn(instanceId, `${open(left)} end with it`)
    }),
  )
}

async function translateGateErrors(instanceId: string, context: StepContext, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof GateError)) throw error
    const { code, port = 0 } = error
    const message =
      code === 'EADDRINUSE'
        ? portTaken(port, await getHolder(port, context))
        : code === 'EACCES'
          ? `the gate may not listen on port ${port}: run the agent as root, or choose a port above 1023`
          : code === 'EADDRNOTAVAIL'
            ? `the gate cannot listen on port ${port}: the machine does not have that address`
            : error.message
    throw new PlanError(instanceId, message, { cause: error })
  }
}

async function getHolder(port: number, context: StepContext): Promise<string> {
  const prefix = context.release.owner?.prefix
  const held = (await context.node.gate.readState())?.ports.find(
    (entry) => entry.port === port && entry.prefix !== prefix,
  )
  return held ? `another container under the prefix ${held.prefix}` : 'another process of the machine'
}

async function answers(context: StepContext, id: string, port: number): Promise<boolean> {
  const seen = await context.node.driver.engine.observe(id).catch(undefinedIfMissing)
  return seen !== undefined && (await probePort(getAddress(seen), port)) === 'open'
}

/** Whether a connection is accepted or refused, or the host does not answer at all. The connection is closed at once. */
function probePort(host: string, port: number): Promise<'open' | 'shut' | 'nothing'> {
  if (host === '') return Promise.resolve('shut')
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const end = (heard: 'open' | 'nothing') =>
      guarded('knocking at a port', (error?: NodeJS.ErrnoException) => {
        socket.destroy()
        resolve(error?.code === 'ECONNREFUSED' ? 'shut' : heard)
      })
    socket.setTimeout(knockTimeoutMs, end('nothing'))
    socket.once('connect', end('open'))
    socket.on('error', end('nothing'))
  })
}

function getName({ name }: ObservedContainer): string {
  return name.replace(/\.(next|old)-[0-9a-f]+$/, '')
}
