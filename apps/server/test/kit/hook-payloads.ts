import { createHash, createHmac } from 'node:crypto'

/** A digest of the right form, the same for the same text. */
export const toDigest = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

/** The header with which GitHub signs the text of a body. */
export const signGithub = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/** The documented shape of the events `package` and `registry_package`, as far as they concern containers. */
export const githubEvent = (
  event: 'package' | 'registry_package',
  image: { owner: string; name: string; tag: string; digest: string },
  more: { action?: string; type?: string } = {},
) => ({
  action: more.action ?? 'published',
  [event]: {
    id: 10_696,
    name: image.name,
    namespace: image.owner,
    description: '',
    ecosystem: more.type ?? 'CONTAINER',
    package_type: more.type ?? 'CONTAINER',
    html_url: `https://github.com/orgs/${image.owner}/packages/container/${image.name}/1`,
    owner: { login: image.owner, id: 21_031_067, type: 'Organization' },
    package_version: {
      id: 57_755_791,
      version: image.digest,
      name: image.digest,
      metadata: [],
      container_metadata: {
        tag: { name: image.tag, digest: image.digest },
        labels: {},
        manifest: { digest: image.digest, media_type: 'application/vnd.oci.image.manifest.v1+json', size: 1_782 },
      },
      package_files: [],
      package_url: `ghcr.io/${image.owner}/${image.name}:${image.tag}`,
    },
    registry: { name: 'GitHub CONTAINER registry', type: 'CONTAINER', vendor: 'GitHub Inc' },
  },
  organization: { login: image.owner, id: 79 },
  sender: { login: 'somebody', id: 80, type: 'User' },
})

/** Harbor's payload format "Default". */
export const harborEvent = (
  type: string,
  image: { project: string; name: string; tag: string; digest: string },
  occurAt = 1_680_501_893,
) => ({
  type,
  occur_at: occurAt,
  operator: 'robot$ci',
  event_data: {
    resources: [
      {
        digest: image.digest,
        tag: image.tag,
        resource_url: `harbor.example.com/${image.project}/${image.name}:${image.tag}`,
      },
    ],
    repository: harborRepository(image),
  },
})

/** Harbor's payload format "CloudEvents". */
export const harborCloudEvent = (
  type: string,
  image: { project: string; name: string; tag: string; digest: string },
  id: string,
) => ({
  specversion: '1.0',
  id,
  requestid: '51c0b694-0168-4f3c-b0db-282565455d7b',
  source: '/projects/2/webhook/policies/15',
  type,
  datacontenttype: 'application/json',
  time: '2026-04-03T06:04:46Z',
  data: {
    resources: [{ digest: image.digest, tag: image.tag, resource_url: 'harbor.example.com' }],
    repository: harborRepository(image),
  },
  operator: 'robot$ci',
})

const harborRepository = ({ project, name }: { project: string; name: string }) => ({
  date_created: 1_680_501_893,
  name,
  namespace: project,
  repo_full_name: `${project}/${name}`,
  repo_type: 'private',
})

/** The documented shape of a webhook of Docker Hub. */
export const hubEvent = (repository: string, tag: string, pushedAt: number, callbackUrl = 'http://127.0.0.1:9/') => ({
  callback_url: callbackUrl,
  push_data: { pushed_at: pushedAt, pusher: 'trustedbuilder', tag },
  repository: {
    comment_count: 0,
    date_created: 1_417_494_799,
    description: '',
    is_private: false,
    name: repository.split('/')[1],
    namespace: repository.split('/')[0],
    repo_name: repository,
    repo_url: `https://registry.hub.docker.com/u/${repository}/`,
    status: 'Active',
  },
})
