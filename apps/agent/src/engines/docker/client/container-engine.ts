import { readFile } from 'node:fs/promises'
import { addAbortSignal, Readable } from 'node:stream'
import { isEveryAddress } from '@crux/rules'
import type Docker from 'dockerode'
import { KeyedLock } from '../../../concurrency/keyed-lock.ts'
import { orAborted } from '../../../concurrency/pause.ts'
import { EngineError } from '../../../errors.ts'
import type { RegistryCredentials } from '../../images/image-reference.ts'
import type { ContainerEngine, ContainerSpec, PublishedPort } from '../containers/container-engine.ts'
import { NoAnswerError } from './client.ts'
import { createOptions, rawPolicy } from './create-options.ts'
import { toDialError, translate, translateRegistry, translating, translatingIfThere } from './errors.ts'
import { findImage, listImages, removeImage } from './images.ts'
import { ensureNetwork, findNetworks, observeNetworks, removeNetworkIfUnused } from './networks.ts'
import { toObserved, toSummary } from './observed.ts'
import { pullImage, toAuth } from './pull.ts'

/** @param options.seesHost whether this process runs on the engine's machine, so that its socket tables are valid */
export function createContainerEngine(docker: Docker, options: { seesHost: boolean }): ContainerEngine {
  const locks = new KeyedLock()

  async function observe(id: string) {
    return toObserved(await translating('inspect the container', () => docker.getContainer(id).inspect()))
  }

  return {
    resolveDigest: ({ name, tag }, auth, signal) => askRegistry(docker, `${name}:${tag}`, auth, signal),
    async checkAccess({ name, digest }, auth, signal) {
      await askRegistry(docker, `${name}@${digest}`, auth, signal)
    },
    findImage: (reference) => findImage(docker, reference),
    pull: (order) => pullImage(docker, order),
    async tag(imageId, image) {
      await translating(`name the image ${image.name}:${image.tag}`, () =>
        docker.getImage(imageId).tag({ repo: image.name, tag: image.tag }),
      )
    },
    async observeAll() {
      return (await translating('list the containers', () => docker.listContainers({ all: true }))).map(toSummary)
    },
    observe,
    async findByName(name) {
      const found = await translatingIfThere(`inspect the container ${name}`, () => docker.getContainer(name).inspect())
      return found && toObserved(found)
    },
    observeNetworks: (labelled) => observeNetworks(docker, labelled),
    findNetworks: (name) => findNetworks(docker, name),
    ensureNetwork: (network) => locks.run(network.name, () => ensureNetwork(docker, network, options)),
    removeNetworkIfUnused: (name) => locks.run(name, () => removeNetworkIfUnused(docker, name)),
    create: (container) => createOnce(docker, container),
    start: (id) => translating('start the container', () => docker.getContainer(id).start()).catch(ignoreUnmodified),
    stop: (id) => withGracePeriod(docker, id, 'stop'),
    discard: (id, { anonymousVolumes } = { anonymousVolumes: false }) => discard(docker, id, anonymousVolumes),
    async waitForExit(id, signal) {
      signal.throwIfAborted()
      try {
        const { StatusCode } = await docker.getContainer(id).wait({ condition: 'not-running', abortSignal: signal })
        return StatusCode
      } catch (error) {
        if (signal.aborted) throw signal.reason
        throw translate(error, 'wait for the end of the container')
      }
    },
    readArchive: (id, path, signal) => readArchive(docker, id, path, signal),
    async rename(id, name) {
      await translating(`rename the container to ${name}`, () => docker.getContainer(id).rename({ name }))
    },
    async setRestartPolicy(id, policy) {
      await translating('change the restart policy', () =>
        docker.getContainer(id).update({ RestartPolicy: rawPolicy(policy) }),
      )
    },
    async joinNetwork(id, network, aliases) {
      await connect(docker, id, network, aliases).catch((error) => {
        if (!/already exists in network|already attached/i.test(error.message)) throw error
      })
    },
    portTakenByProcess: async (port) => options.seesHost && (await isPortHeld(port)),
    listImages: () => listImages(docker),
    removeImage: (id) => removeImage(docker, id),
  }
}

async function discard(docker: Docker, id: string, anonymousVolumes: boolean): Promise<void> {
  try {
    await docker.getContainer(id).remove({ force: true, v: anonymousVolumes })
  } catch (error) {
    const known = translate(error, 'remove the container')
    if (known.kind === 'not-found') return
    if (known.kind !== 'conflict') throw known
    // "removal already in progress": wait until it is gone, so that its name is free.
    await docker
      .getContainer(id)
      .wait({ condition: 'removed' })
      .catch(() => undefined)
  }
}

/** The grace period of the engine for a container without its own. */
const graceDefaultSeconds = 10
/** Time for the engine to kill a container that did not end by itself, and to clean it up. */
const afterGraceMs = 5 * 60_000

/** The usual limit of a call ends before the longest grace period. */
export async function withGracePeriod(docker: Docker, id: string, what: 'stop' | 'restart'): Promise<void> {
  const container = docker.getContainer(id)
  const { Config } = await translating(`${what} the container`, () => container.inspect())
  // The types of dockerode leave it out.
  const seconds = 'StopTimeout' in Config ? Number(Config.StopTimeout ?? graceDefaultSeconds) : graceDefaultSeconds
  const limit = AbortSignal.timeout(seconds * 1_000 + afterGraceMs)
  const call = () =>
    what === 'stop' ? container.stop({ abortSignal: limit }) : container.restart({ abortSignal: limit })
  await translating(`${what} the container`, async () => {
    try {
      await call()
    } catch (error) {
      throw limit.aborted ? new NoAnswerError(`no answer within ${seconds} s and ${afterGraceMs / 1_000} s`) : error
    }
  }).catch(ignoreUnmodified)
}

/** Returns the digest that a registry has for a tag or digest; the engine asks it with the credentials. */
async function askRegistry(
  docker: Docker,
  reference: string,
  auth: RegistryCredentials | undefined,
  signal: AbortSignal,
): Promise<string> {
  try {
    // The request changes nothing, so a caller that aborted does not wait for its end.
    const found = await orAborted(
      docker.getImage(reference).distribution(auth ? { authconfig: toAuth(auth) } : {}),
      signal,
    )
    return found.Descriptor.digest
  } catch (error) {
    signal.throwIfAborted()
    throw translateRegistry(error, reference)
  }
}

async function createOnce(docker: Docker, container: ContainerSpec): Promise<string> {
  const created = await translating(`create the container ${container.name}`, () =>
    docker.createContainer(createOptions(container)),
  )
  for (const { name, aliases } of container.networks) await connect(docker, created.id, name, aliases)
  return created.id
}

function connect(docker: Docker, id: string, network: string, aliases: readonly string[]): Promise<unknown> {
  return translating(`connect the container to the network ${network}`, () =>
    docker.getNetwork(network).connect({ Container: id, EndpointConfig: { Aliases: [...aliases] } }),
  )
}

/** 304 means that the state is already as requested. */
function ignoreUnmodified(error: unknown): void {
  if (!(error instanceof EngineError) || toDialError(error.cause).statusCode !== 304) throw error
}

/** A symbolic link, in Go's file modes. */
const linkMode = 0x8000000

/**
 * Returns a path of a container as a tar archive. The engine archives a link as such, so a link at the end of the path is followed first;
 * it resolves within the container's own files.
 */
export async function readArchive(docker: Docker, id: string, path: string, signal: AbortSignal): Promise<Readable> {
  const container = docker.getContainer(id)
  const doing = `read ${path} of the container`
  const wanted = path.replace(/(.)\/+$/, '$1')
  const metadata: { headers?: Record<string, string> } = await translating(doing, () =>
    container.infoArchive({ path: wanted }),
  )
  const stat = parseStat(metadata)
  const target = stat && stat.mode & linkMode && stat.linkTarget ? stat.linkTarget : wanted
  const stream = await translating(doing, () => container.getArchive({ path: target }))
  if (!(stream instanceof Readable)) throw new Error('the engine answers without an archive')
  return addAbortSignal(signal, stream)
}

function parseStat({
  headers,
}: {
  headers?: Record<string, string>
}): { mode: number; linkTarget: string } | undefined {
  const encoded = headers?.['x-docker-container-path-stat']
  return encoded ? JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) : undefined
}

/**
 * Whether a process of this machine holds a port, read from the kernel's socket tables without opening anything. Inside a network namespace
 * of its own the agent sees only its own sockets and returns false; the engine then reports the error later.
 */
async function isPortHeld(port: PublishedPort): Promise<boolean> {
  const tables = await Promise.all(
    [`/proc/net/${port.protocol}`, `/proc/net/${port.protocol}6`].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  return tables.some((table) => holdsPort(table, port))
}

/** State 0A is LISTEN; a bound UDP socket has state 07. */
export function holdsPort(table: string, port: PublishedPort): boolean {
  const wanted = port.protocol === 'tcp' ? '0A' : '07'
  return table
    .split('\n')
    .slice(1)
    .some((line) => {
      const [, local = '', , state] = line.trim().split(/\s+/)
      const [address = '', hexPort = ''] = local.split(':')
      return state === wanted && Number.parseInt(hexPort, 16) === port.hostPort && overlaps(address, port.address)
    })
}

function overlaps(socketAddress: string, wanted: string): boolean {
  if (isEveryAddress(wanted)) return true
  if (/^0+$/.test(socketAddress)) return true
  const octets = wanted.split('.').map(Number)
  if (octets.length !== 4) return true
  // The kernel prints IPv4 addresses in the byte order of the machine, little-endian on all supported machines.
  const hex = octets
    .reverse()
    .map((octet) => octet.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
  return socketAddress === hex || socketAddress.endsWith(hex)
}
