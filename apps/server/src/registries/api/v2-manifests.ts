import { createHash } from 'node:crypto'
import { CruxError, limits } from '@crux/contract'
import { manifestTypes } from '@crux/rules'
import type { OutboundResponse } from '@crux/service-kit'
import { rateLimited } from './rate-limit.ts'
import { type ExposedPort, parseJson, type RegistryTag, readDate, toRecord, unexpected } from './registry-api.ts'
import { encodePath, pullScope, type V2Client } from './v2-client.ts'

const accept = manifestTypes.join(', ')
/** An index may contain other indexes. */
const depthMax = 3
const atOnce = 5
/** Dates are optional, so that a slow registry delays the list by no more than this. */
const datesMs = 3_000

type ImageConfig = { created?: unknown; config?: { Labels?: unknown; ExposedPorts?: unknown } }
type Described = Pick<RegistryTag, 'digest' | 'platforms'> & { config: ImageConfig; size?: number }

/** Of an index, which may name any number. */
const platformsMax = 50

/** Reads the manifest that a tag or digest names, and the configuration of its image. */
function createReader(client: V2Client) {
  async function read(name: string, reference: string, depth = 0): Promise<Described | undefined> {
    const path = `/v2/${encodePath(name)}/manifests/${encodeURIComponent(reference)}`
    const response = await client.get(path, pullScope(name), { accept })
    if (response.status !== 200) return ignore(response)
    const manifest: { config?: { digest?: unknown }; manifests?: IndexEntry[]; layers?: unknown } = parseJson(
      response.body,
    )
    const digest = readDigest(response)
    if (Array.isArray(manifest.manifests)) {
      const inner = preferred(manifest.manifests)
      const described = inner && depth < depthMax ? await read(name, inner, depth + 1) : undefined
      // The size of one platform would be misleading for all of them.
      return described && { config: described.config, digest, platforms: toPlatforms(manifest.manifests) }
    }
    const config = manifest.config?.digest
    if (typeof config !== 'string') return undefined
    const blob = await client.get(`/v2/${encodePath(name)}/blobs/${encodeURIComponent(config)}`, pullScope(name))
    if (blob.status !== 200) return ignore(blob)
    const content: ImageConfig & { os?: unknown; architecture?: unknown; variant?: unknown } = parseJson(blob.body)
    return {
      config: content,
      digest,
      size: layersSize(manifest.layers),
      platforms: toPlatforms([{ platform: content }]),
    }
  }

  /** A tag that cannot be described is still listed; a limit of requests counts for all of them. */
  function ignore(response: OutboundResponse): undefined {
    const limited = rateLimited(response, client.host)
    if (limited) throw limited
  }

  return read
}

/** The data in the manifest and the configuration of an image, which costs two requests per tag, three for several platforms. */
export function createV2Manifests(client: V2Client) {
  const read = createReader(client)

  /** @throws CruxError registryRateLimit with the seconds to wait; invalidArgument when the registry cannot be reached */
  async function describe(name: string, tag: string): Promise<RegistryTag | undefined> {
    const { config, ...known } = (await read(name, tag)) ?? {}
    return config && { name: tag, created: readDate(config.created), ...known }
  }

  return {
    describe,
    /** @throws CruxError registryRateLimit with the seconds to wait */
    async digest(name: string, tag: string): Promise<string | undefined> {
      const path = `/v2/${encodePath(name)}/manifests/${encodeURIComponent(tag)}`
      const response = await client.head(path, pullScope(name), { accept })
      if (response.status === 404) return undefined
      if (response.status !== 200)
        throw !client.hasCredentials && response.status === 401
          ? new CruxError('registryUnauthorized', {
              property: 'registryId',
              description: `${client.host} shows ${name} to nobody without credentials, or has no such image.`,
            })
          : unexpected(response, client.host, 'image')
      const digest = readDigest(response)
      if (digest) return digest
      // The header is optional in the specification; the digest is the hash of the manifest's bytes.
      const manifest = await client.get(path, pullScope(name), { accept })
      if (manifest.status !== 200) throw unexpected(manifest, client.host, 'image')
      return `sha256:${createHash('sha256').update(manifest.body).digest('hex')}`
    },
    /** What is known about tags; one that cannot be read in time is missing. */
    async describeAll(name: string, tags: string[]): Promise<Map<string, RegistryTag>> {
      const found = new Map<string, RegistryTag>()
      const end = Date.now() + datesMs
      const waiting = [...tags]
      const worker = async () => {
        for (let tag = waiting.shift(); tag && Date.now() < end; tag = waiting.shift()) {
          const described = await describe(name, tag).catch((error: unknown) => {
            // No more requests to a registry that limits them.
            if (error instanceof CruxError && error.code === 'registryRateLimit') waiting.length = 0
            return undefined
          })
          if (described) found.set(tag, described)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      return found
    },
    async labels(name: string, tag: string): Promise<Record<string, string>> {
      const labels = (await read(name, tag))?.config.config?.Labels
      if (typeof labels !== 'object' || labels === null) return {}
      return Object.fromEntries(
        Object.entries(labels)
          .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
          .slice(0, 500),
      )
    },
    /** @throws CruxError registryRateLimit with the seconds to wait */
    exposedPorts: async (name: string, tag: string): Promise<ExposedPort[]> =>
      Object.keys(toRecord((await read(name, tag))?.config.config?.ExposedPorts))
        .flatMap(readExposedPort)
        .slice(0, limits.proposedPorts),
  }
}

/** Reads `8080/tcp`, or `53/udp`. A range, or another protocol, is no port that Crux publishes. */
function readExposedPort(text: string): ExposedPort[] {
  const [, port, protocol = 'tcp'] = /^(\d{1,5})(?:\/(tcp|udp))?$/.exec(text) ?? []
  const internal = Number(port)
  if (!(internal >= limits.port.min && internal <= limits.port.max)) return []
  return [{ internal, protocol: protocol === 'udp' ? 'udp' : 'tcp' }]
}

const readDigest = ({ headers }: OutboundResponse): string | undefined => {
  const digest = headers['docker-content-digest']
  return typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : undefined
}

function layersSize(layers: unknown): number | undefined {
  const sizes = (Array.isArray(layers) ? layers : []).map((layer: { size?: unknown } | null) => layer?.size)
  return sizes.every((size) => typeof size === 'number') ? sizes.reduce((sum, size) => sum + size, 0) : undefined
}

type Platform = { os?: unknown; architecture?: unknown; variant?: unknown }
type IndexEntry = { digest?: unknown; platform?: Platform }

/** `linux/arm64/v8` for each platform; attestations have the platform `unknown`. */
export function toPlatforms(entries: readonly { platform?: Platform }[]): string[] {
  const names = entries.flatMap(({ platform }) => {
    const parts = [platform?.os, platform?.architecture, platform?.variant].filter(
      (part) => typeof part === 'string' && part !== '' && part.length <= 50,
    )
    return parts.length > 1 && !parts.includes('unknown') ? [parts.join('/')] : []
  })
  return [...new Set(names)].slice(0, platformsMax)
}

/** Labels and dates rarely differ between platforms: linux/amd64 is used, else the first real one (attestations have none). */
function preferred(entries: IndexEntry[]): string | undefined {
  const real = entries.filter(({ platform }) => platform?.os !== 'unknown')
  const entry = real.find(({ platform }) => platform?.os === 'linux' && platform.architecture === 'amd64') ?? real[0]
  return typeof entry?.digest === 'string' ? entry.digest : undefined
}
