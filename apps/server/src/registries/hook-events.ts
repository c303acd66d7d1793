import { createHash } from 'node:crypto'
import { type Body, CruxError, patterns } from '@crux/contract'
import { z } from 'zod'

/** An image of an event, named as in the registry. */
export type PushedImage = { name: string; tag?: string; digest?: string }
/** A verified event of any service. */
export type HookEvent = {
  /** The same for every repetition of one delivery, and for no other delivery. */
  id: string
  /** As the service names it. */
  event: string
  images: PushedImage[]
  /** `none`: the event is known and changes no tag. A pull is not listed. */
  change: 'push' | 'delete' | 'pull' | 'none' | 'unknown'
}
type Headers = Record<string, string | string[] | undefined>
type ForeignBody = Record<string, unknown>

/** The user agent of our own requests, when a registry reports them. */
const ownAgent = /^crux(\/|$)/
const imagesMax = 50
const eventMax = 64
const digestPattern = /^sha256:[0-9a-f]{64}$/

/** Our own requests are left out: a list of them would push out the events that change something. */
export function readV2Events({ events }: Body<'registries.hook'>): HookEvent[] {
  return events
    .filter(({ request }) => !ownAgent.test(request?.useragent ?? ''))
    .map(({ id, action, target }) => {
      const images = readImages([{ name: target.repository, tag: target.tag, digest: target.digest }])
      return {
        // Without an id nothing can be recognized as a repetition.
        id: hash(id ?? crypto.randomUUID(), action, target.repository, target.tag ?? '', target.digest ?? ''),
        event: action,
        images,
        change: images.length === 0 && action !== 'pull' ? 'unknown' : (v2Changes[action] ?? 'push'),
      }
    })
}

/** An image that is mounted from another repository is pushed there. */
const v2Changes: Record<string, HookEvent['change']> = { delete: 'delete', pull: 'pull' }

const GithubPackage = z.object({
  name: z.string(),
  namespace: z.string().nullish(),
  ecosystem: z.string().nullish(),
  package_type: z.string().nullish(),
  package_version: z
    .object({
      package_url: z.string().nullish(),
      container_metadata: z
        .object({
          tag: z.object({ name: z.string().nullish(), digest: z.string().nullish() }).nullish(),
          manifest: z.object({ digest: z.string().nullish() }).nullish(),
        })
        .nullish()
        .catch(undefined),
    })
    .nullish(),
})

/** Reads a webhook of GitHub: https://docs.github.com/en/webhooks/webhook-events-and-payloads#registry_package */
export function readGithubEvent(headers: Headers, body: ForeignBody): HookEvent {
  const name = String(headers['x-github-event'] ?? '')
  const action = typeof body.action === 'string' ? body.action : ''
  const delivery = headers['x-github-delivery']
  const base = {
    id: delivery ? hash(String(delivery)) : hashBody(body),
    event: cleanEvent(action ? `${name}.${action}` : name),
    images: [],
  }
  // GitHub sends it once when the webhook is created.
  if (name === 'ping') return { ...base, change: 'none' }
  if (name !== 'package' && name !== 'registry_package') return { ...base, change: 'unknown' }
  const read = GithubPackage.safeParse(body[name])
  if (!read.success || (action !== 'published' && action !== 'updated')) return { ...base, change: 'unknown' }
  const { package_version: version } = read.data
  const isContainer = [read.data.package_type, read.data.ecosystem].some((type) =>
    /^(container|docker)$/i.test(type ?? ''),
  )
  if (!isContainer) return { ...base, change: 'none' }
  const { tag, manifest } = version?.container_metadata ?? {}
  const images = readImages([
    { name: toGithubRepository(read.data), tag: tag?.name, digest: tag?.digest ?? manifest?.digest },
  ])
  return { ...base, images, change: images.length > 0 ? 'push' : 'unknown' }
}

/** The address of the package names the image; the namespace may be a repository of sources instead of its owner. */
function toGithubRepository({ name, namespace, package_version: version }: z.output<typeof GithubPackage>): string {
  const path = /^(?:https?:\/\/)?ghcr\.io\/([^:@]+)/i.exec(version?.package_url ?? '')?.[1]
  return (path ?? [namespace, name].filter(Boolean).join('/')).toLowerCase()
}

const HarborData = z.object({
  resources: z.array(z.object({ tag: z.string().nullish(), digest: z.string().nullish() })).max(1_000),
  repository: z.object({ repo_full_name: z.string() }),
})
const harborEvents: Record<string, HookEvent['change']> = {
  PUSH_ARTIFACT: 'push',
  DELETE_ARTIFACT: 'delete',
  'harbor.artifact.pushed': 'push',
  'harbor.artifact.deleted': 'delete',
  PULL_ARTIFACT: 'pull',
  'harbor.artifact.pulled': 'pull',
}

/**
 * Reads a webhook of Harbor in either of its payload formats:
 * https://goharbor.io/docs/2.11.0/working-with-projects/project-configuration/configure-webhooks/
 */
export function readHarborEvent(body: ForeignBody): HookEvent {
  const type = typeof body.type === 'string' ? body.type : ''
  // Harbor renders the payload once and repeats it unchanged. The time of the event is part of it, so that a push that
  // returns a tag to an earlier digest is a delivery of its own.
  const base = { id: hashBody(body), event: cleanEvent(type), images: [] }
  const change = Object.hasOwn(harborEvents, type) ? harborEvents[type] : undefined
  const read = HarborData.safeParse(body.specversion === undefined ? body.event_data : body.data)
  if (!change || !read.success) return { ...base, change: change === 'pull' ? 'pull' : 'unknown' }
  const { resources, repository } = read.data
  const images = readImages(resources.map((resource) => ({ name: repository.repo_full_name, ...resource })))
  return { ...base, images, change: images.length > 0 || change === 'pull' ? change : 'unknown' }
}

const HubPush = z.object({
  push_data: z.object({ pushed_at: z.number(), tag: z.string() }),
  repository: z.object({ repo_name: z.string() }),
})

/** Reads a webhook of Docker Hub, which has one kind of event: https://docs.docker.com/docker-hub/repos/manage/webhooks/ */
export function readHubEvent(body: ForeignBody): HookEvent {
  const read = HubPush.safeParse(body)
  const images = read.success
    ? readImages([{ name: read.data.repository.repo_name, tag: read.data.push_data.tag }])
    : []
  if (!read.success || images.length === 0)
    return { id: hashBody(body), event: 'unknown', images: [], change: 'unknown' }
  const { push_data: push, repository } = read.data
  return { id: hash(String(push.pushed_at), repository.repo_name, push.tag), event: 'push', images, change: 'push' }
}

type RawImage = { name: string; tag?: string | null | undefined; digest?: string | null | undefined }

/** Keeps what is the name of an image. A tag that is none, such as the digest that Harbor sends for an untagged image, is left out. */
function readImages(raw: readonly RawImage[]): PushedImage[] {
  const images = raw
    .filter(({ name }) => name.length <= 255 && patterns.imageName.test(name))
    .map(({ name, tag, digest }) => ({
      name,
      ...(tag && patterns.imageTag.test(tag) && { tag }),
      ...(digest && digestPattern.test(digest) && { digest }),
    }))
  return images.slice(0, imagesMax)
}

const cleanEvent = (text: string): string => text.replace(/[^\w.:-]/g, '').slice(0, eventMax) || 'unknown'

/** The parts cannot run together: JSON separates them. */
const hash = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

function hashBody(body: ForeignBody): string {
  try {
    return hash(JSON.stringify(body))
  } catch (cause) {
    // A parser reads any depth, a serializer does not.
    throw new CruxError('invalidArgument', {
      property: 'body',
      description: 'The body is nested too deeply: no event of this service is.',
      cause,
    })
  }
}
