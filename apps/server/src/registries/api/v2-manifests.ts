import { createHash } from 'node:crypto'
import { CruxError } from '@crux/contract'
import { manifestTypes } from '@crux/rules'
import { parseJson, unexpected } from './registry-api.ts'
import { encodePath, pullScope, type V2Client } from './v2-client.ts'

const accept = manifestTypes.join(', ')
/** An index may contain other indexes. */
const depthMax = 3
const atOnce = 5
/** Dates are optional, so that a slow registry delays the list by no more than this. */
const datesMs = 3_000

type ImageConfig = { created?: unknown; config?: { Labels?: unknown } }

/** The data in the configuration of an image, which costs two requests per tag. */
export function createV2Manifests(client: V2Client) {
  async function readConfig(name: string, reference: string, depth = 0): Promise<ImageConfig | undefined> {
    const path = `/v2/${encodePath(name)}/manifests/${encodeURIComponent(reference)}`
    const response = await client.get(path, pullScope(name), { accept })
    if (response.status !== 200) return undefined
    const manifest: { config?: { digest?: unknown }; manifests?: IndexEntry[] } = parseJson(response.body)
    const inner = Array.isArray(manifest.manifests) ? preferred(manifest.manifests) : undefined
    if (inner) return depth < depthMax ? readConfig(name, inner, depth + 1) : undefined
    const digest = manifest.config?.digest
    if (typeof digest !== 'string') return undefined
    const blob = await client.get(`/v2/${encodePath(name)}/blobs/${encodeURIComponent(digest)}`, pullScope(name))
    return blob.status === 200 ? parseJson(blob.body) : undefined
  }

  return {
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
      const digest = response.headers['docker-content-digest']
      if (typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest)) return digest
      // The header is optional in the specification; the digest is the hash of the manifest's bytes.
      const manifest = await client.get(path, pullScope(name), { accept })
      if (manifest.status !== 200) throw unexpected(manifest, client.host, 'image')
      return `sha256:${createHash('sha256').update(manifest.body).digest('hex')}`
    },
    async created(name: string, tags: string[]): Promise<Map<string, string>> {
      const found = new Map<string, string>()
      const end = Date.now() + datesMs
      const waiting = [...tags]
      const worker = async () => {
        for (let tag = waiting.shift(); tag && Date.now() < end; tag = waiting.shift()) {
          // A tag without a date is still listed.
          const config = await readConfig(name, tag).catch(() => undefined)
          const at = new Date(typeof config?.created === 'string' ? config.created : Number.NaN)
          if (!Number.isNaN(at.getTime())) found.set(tag, at.toISOString())
        }
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      return found
    },
    async labels(name: string, tag: string): Promise<Record<string, string>> {
      const labels = (await readConfig(name, tag))?.config?.Labels
      if (typeof labels !== 'object' || labels === null) return {}
      return Object.fromEntries(
        Object.entries(labels)
          .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
          .slice(0, 500),
      )
    },
  }
}

type IndexEntry = { digest?: unknown; platform?: { os?: unknown; architecture?: unknown } }

/** Labels and dates rarely differ between platforms: linux/amd64 is used, else the first real one (attestations have none). */
function preferred(entries: IndexEntry[]): string | undefined {
  const real = entries.filter(({ platform }) => platform?.os !== 'unknown')
  const entry = real.find(({ platform }) => platform?.os === 'linux' && platform.architecture === 'amd64') ?? real[0]
  return typeof entry?.digest === 'string' ? entry.digest : undefined
}
