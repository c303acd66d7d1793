import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { guarded } from '@crux/service-kit'
import { isEngineError } from '../../../errors.ts'
import { label } from '../../labels.ts'
import type { ContainerEngine } from '../containers/container-engine.ts'
import { idleSpec } from '../containers/idle-spec.ts'
import { GateError } from './errors.ts'
import { getCode } from './relay/code.ts'
import { findProcess, roleFlags } from './relay/pid-files.ts'

declare const __CRUX_AGENT_VERSION__: string | undefined

/** How a gate process is started beside this agent. It runs in no process group and no container of the agent's. */
export interface GateRunner {
  /** Why no gate can run here; undefined when one can. */
  unusable: string | undefined
  /** The version of this agent's gate code. */
  code: string
  /** Starts a gate that runs independently; returns before it listens. */
  start(): Promise<void>
  /** Starts the parent of the gate if it has ended, whether the gate runs or not. */
  ensureParent(): void
  /** The path under which a running gate finds this agent's code. */
  entryForHandover(): string
  /** Removes what a gate leaves after it was stopped. */
  remove(): Promise<void>
}

/** In the bundle the gate is one file beside the agent's; in the checkout it is the sources. */
const gateEntry = fileURLToPath(
  new URL(typeof __CRUX_AGENT_VERSION__ === 'string' ? './gate.mjs' : './relay/main.ts', import.meta.url),
)

/** Chooses the kind that works here, if any: the gate must reach the containers' addresses and share the machine's ports. */
export async function openGateRunner(options: {
  directory: string
  settings: { dataDir: string; dockerHost: string }
  engine: ContainerEngine
  ownContainer: string
}): Promise<GateRunner> {
  const { directory, settings, engine, ownContainer } = options
  const no = (why: string) => `ports that stay open need ${why}: switch "keep ports open" off, or publish no port`
  const local = settings.dockerHost.startsWith('unix:')
  if (ownContainer === '') {
    const unusable = process.platform !== 'linux' ? no('Linux') : local ? undefined : no('an engine on this machine')
    return processRunner(directory, unusable)
  }
  const agent = await engine.findByName(ownContainer)
  const mounted = agent?.mounts.find(({ target }) => target === settings.dataDir)?.source ?? ''
  const unusable = !agent?.hostNetwork
    ? no("an agent in the host's network")
    : mounted.startsWith('/')
      ? undefined
      : no("a directory of the machine as the agent's data directory")
  const { dataDir } = settings
  return containerRunner({ directory, dataDir, mounted, engine, agentContainer: ownContainer, unusable })
}

/** Starts each process in its own session, so that neither the agent's end nor a terminal's reaches it. */
function processRunner(directory: string, unusable: string | undefined): GateRunner {
  let parent: ChildProcess | undefined

  function ensureParent(): void {
    const isStarting = parent !== undefined && parent.exitCode === null && parent.signalCode === null
    if (isStarting || findProcess(directory, 'parent') !== undefined) return
    const log = openSync(join(directory, 'gate.log'), 'a', 0o600)
    const { PATH, HOME } = process.env
    parent = spawn(process.execPath, [gateEntry, directory, roleFlags.parent], {
      cwd: '/',
      env: { PATH, HOME },
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    parent.on(
      'error',
      guarded('starting the gate', () => {
        parent = undefined
      }),
    )
    parent.unref()
  }

  /** The parent of an earlier version starts this agent's code from now on. */
  const nameEntry = () => writeEntry(directory, `${gateEntry}\n${process.execPath}\n`)

  return {
    unusable,
    code: getCode(gateEntry),
    async start() {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      nameEntry()
      ensureParent()
    },
    ensureParent,
    entryForHandover() {
      nameEntry()
      return gateEntry
    },
    remove: async () => undefined,
  }
}

function writeEntry(directory: string, text: string): void {
  const path = join(directory, 'entry')
  writeFileSync(`${path}.new`, text, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/**
 * Runs the gate in its own container, from the agent's image, in the host's network. An updated agent hands over to its code by a file in
 * the data directory, which both see under the same path: the container, and with it the ports, stays.
 */
function containerRunner(options: {
  directory: string
  dataDir: string
  /** The directory of the machine that is the data directory in the agent's container, and in the gate's. */
  mounted: string
  engine: ContainerEngine
  /** Name of the agent's own container. */
  agentContainer: string
  unusable: string | undefined
}): GateRunner {
  const { directory, dataDir, mounted, engine, agentContainer, unusable } = options
  const name = gateContainerName(agentContainer)
  const code = getCode(gateEntry)
  return {
    unusable,
    code,
    async start() {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      const existing = await engine.findByName(name)
      if (existing && existing.labels[label.getGate] !== agentContainer)
        throw new GateError(`a container named ${name} exists already and is not the agent's: remove or rename it`)
      if (existing) {
        await engine.start(existing.id)
        return
      }
      const agent = await engine.findByName(agentContainer)
      if (!agent) throw new GateError("the agent's own container is not to be found")
      await engine.start(
        await engine.create({
          ...idleSpec,
          name,
          // The image is referenced by its id, because a tag could refer to another image.
          image: { name: 'crux/agent', tag: 'gate', id: agent.imageId },
          labels: { [label.serviceCategory]: '_internal', [label.getGate]: agentContainer },
          entrypoint: ['/bin/node', gateEntry, directory, roleFlags.parent],
          restartPolicy: { name: 'unless-stopped' },
          mounts: [{ kind: 'bind', source: mounted, target: dataDir, writable: true }],
          networkMode: 'host',
        }),
      )
    },
    // The parent is the container's first process, which the engine restarts.
    ensureParent: () => undefined,
    entryForHandover() {
      const path = join(directory, `gate-${code}.mjs`)
      if (!existsSync(path)) {
        copyFileSync(gateEntry, `${path}.new`)
        renameSync(`${path}.new`, path)
      }
      // The container's first process starts this gate from now on.
      writeEntry(directory, basename(path))
      return path
    },
    async remove() {
      const existing = await engine.findByName(name)
      if (existing?.labels[label.getGate] !== agentContainer) return
      await engine.discard(existing.id).catch((error) => {
        if (!isEngineError(error, 'not-found')) throw error
      })
    },
  }
}

export function gateContainerName(agentContainer: string): string {
  return `${agentContainer}-gate`
}
