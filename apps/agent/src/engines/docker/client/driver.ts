import { EngineKind, Operation } from '@crux/agent-protocol'
import { type Logger, withinTime } from '@crux/service-kit'
import type Docker from 'dockerode'
import { guardedTimer } from '../../../concurrency/pause.ts'
import { EngineError, undefinedIfMissing } from '../../../errors.ts'
import type { EngineDescription, FoundContainer } from '../../engine.ts'
import { label } from '../../labels.ts'
import { nameOnEngine } from '../../names.ts'
import type { ContainerEngine, Driver } from '../containers/container-engine.ts'
import { openDocker } from './client.ts'
import { createContainerEngine, withGracePeriod } from './container-engine.ts'
import { translating, translatingIfThere } from './errors.ts'
import { createEventHub, type EventHub } from './events.ts'
import { redactInspection } from './inspection.ts'
import { LiveView, type ViewSource } from './live-view.ts'
import { findOwnContainer } from './own-container.ts'
import { readLog } from './read-log.ts'

/** A busy engine answers within this time, and a page must not wait longer. */
const heldDefaultMs = 5_000
/** The server waits a minute for an answer. */
const answerMs = 45_000

/**
 * @param dockerHost `unix:///path` or `tcp://host:port`
 * @throws EngineError `unavailable` while the engine does not answer
 */
export async function openDockerDriver(
  dockerHost: string,
  log: Logger,
  { heldMs = heldDefaultMs }: { heldMs?: number } = {},
): Promise<Driver> {
  const { docker, close } = await translating('say its version', () => openDocker(dockerHost))
  const hub = createEventHub(docker, log, (id) => view.touch(id))
  const list = (options: Docker.ContainerListOptions) =>
    translating('list the containers', () => docker.listContainers({ all: true, ...options }))
  const view = new LiveView({ list, inspect: inspectUnlessHeld(docker, hub, heldMs) }, hub)
  const raw = createContainerEngine(docker, { seesHost: dockerHost.startsWith('unix:') })
  const engine: ContainerEngine = {
    ...raw,
    async start(id) {
      try {
        await raw.start(id)
      } catch (error) {
        // The engine stores the reason on the container, and sends no event when the container shares another one's network.
        view.touch(id)
        throw error
      }
    },
  }
  const stopAndRemove = async (id: string) => {
    await engine.stop(id).catch(undefinedIfMissing)
    await engine.discard(id)
  }
  return {
    engine,
    describe: () => describe(docker),
    async list({ prefix }) {
      const all = await view.all()
      return prefix === undefined ? all : all.filter(({ labels }) => labels[label.prefix] === prefix)
    },
    view: (ids) => view.some(ids),
    find: (ref) => find(docker, ref),
    async inspect(id) {
      const info = await translating('inspect the container', () => docker.getContainer(id).inspect())
      return JSON.stringify(redactInspection(info))
    },
    async operate(id, operation) {
      if (operation === Operation.START) return engine.start(id)
      if (operation === Operation.STOP) return withinAnswerTime(engine.stop(id), log)
      if (operation === Operation.RESTART) return withinAnswerTime(withGracePeriod(docker, id, 'restart'), log)
      throw new EngineError('refused', 'This agent does not know that operation')
    },
    remove: (id) => withinAnswerTime(stopAndRemove(id), log),
    readLog: (id, request) => readLog(docker, id, request),
    subscribe: hub.subscribe,
    close() {
      hub.close()
      close()
    },
  }
}

async function describe(docker: Docker): Promise<EngineDescription> {
  const info: DockerInfo = await translating('describe itself', () => docker.info())
  return {
    kind: EngineKind.DOCKER,
    version: `Docker ${info.ServerVersion}`,
    operatingSystem: info.OperatingSystem,
    architecture: { x86_64: 'amd64', aarch64: 'arm64' }[info.Architecture] ?? info.Architecture,
    ownContainer: await findOwnContainer(docker),
  }
}

async function find(docker: Docker, ref: Parameters<Driver['find']>[0]): Promise<FoundContainer | undefined> {
  const full = nameOnEngine(ref)
  // The name becomes part of a path of the engine's API.
  if (!containerName.test(full)) return undefined
  const found = await inspectIfThere(docker, full)
  // The engine also resolves the beginning of an id: only the name counts here.
  if (found?.Name !== `/${full}`) return undefined
  const labels = found.Config.Labels ?? {}
  return ref.prefix !== '' && labels[label.prefix] !== ref.prefix ? undefined : { id: found.Id, labels }
}

const inspectIfThere = (docker: Docker, id: string): Promise<Docker.ContainerInspectInfo | undefined> =>
  translatingIfThere('inspect the container', () => docker.getContainer(id).inspect())

/** The engine may hold one container locked indefinitely: the others are shown all the same, and that one with the data of the list. */
function inspectUnlessHeld(docker: Docker, hub: Pick<EventHub, 'emit'>, heldMs: number): ViewSource['inspect'] {
  /** Makes watchers inspect a locked container again, but less often than a slow engine answers. */
  const emitLater = (id: string, labels: Record<string, string>) =>
    void guardedTimer('a held container', 2 * heldMs, () =>
      hub.emit({ kind: 'container', action: 'update', id, name: '', labels }),
    ).unref()
  return (id) => {
    const inspecting = inspectIfThere(docker, id)
    return withinTime(inspecting, heldMs, (): 'held' => {
      inspecting.then(
        (info) => emitLater(id, info?.Config.Labels ?? {}),
        () => undefined,
      )
      return 'held'
    })
  }
}

/** A grace period may be longer than the server waits for an answer: events report the rest. */
function withinAnswerTime(work: Promise<void>, log: Logger): Promise<void> {
  return withinTime(work, answerMs, () => {
    work.catch((err: unknown) => log.warn({ err }, 'a container was not stopped'))
  })
}

/** The types of dockerode leave it open. */
interface DockerInfo {
  OperatingSystem: string
  ServerVersion: string
  Architecture: string
}

/** The names of containers that the engine itself accepts. */
const containerName = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/
