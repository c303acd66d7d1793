import { expect, it } from 'vitest'
import { imageReference, type RegistryLocation, serverAddress } from './image-reference.ts'

const location = (fields: Partial<RegistryLocation>): RegistryLocation => ({
  type: 'v2',
  url: '',
  imageNamePrefix: null,
  local: false,
  ...fields,
})

it.each<[Partial<RegistryLocation>, string, string]>([
  [{ type: 'hub', imageNamePrefix: 'library' }, 'nginx', 'docker.io/library/nginx'],
  [{ type: 'hub', imageNamePrefix: 'grafana' }, 'loki', 'docker.io/grafana/loki'],
  [{ url: 'https://r.example.com:5000/' }, 'app', 'r.example.com:5000/app'],
  [{ url: 'http://127.0.0.1:5000', imageNamePrefix: '/group/' }, 'a/b', '127.0.0.1:5000/group/a/b'],
  [{ url: 'localhost' }, 'app', 'localhost/app'],
  [{ type: 'gitlab', url: 'registry.gitlab.com', imageNamePrefix: 'group' }, 'group/a', 'registry.gitlab.com/group/a'],
  [{ type: 'github', url: 'ghcr.io', imageNamePrefix: 'owner' }, 'app', 'ghcr.io/owner/app'],
  [{ type: 'google', url: 'eu.gcr.io', imageNamePrefix: 'project' }, 'a/b', 'eu.gcr.io/project/a/b'],
  [{ type: 'unchecked' }, 'nginx', 'docker.io/library/nginx'],
  [{ type: 'unchecked' }, 'team/app', 'docker.io/team/app'],
  [{ type: 'unchecked' }, 'ghcr.io/team/app', 'ghcr.io/team/app'],
  [{ type: 'unchecked', url: 'r.example.com' }, 'app', 'r.example.com/app'],
  [{ type: 'unchecked', local: true, url: 'ignored' }, 'app', 'app'],
])('the image reference of %j and %s is %s', (fields, name, expected) => {
  expect(imageReference(location(fields), name)).toBe(expected)
})

it('the server address is the one under which the engine keeps credentials', () => {
  expect(serverAddress('docker.io/library/nginx')).toBe('https://index.docker.io/v1/')
  expect(serverAddress('r.example.com:5000/app')).toBe('r.example.com:5000')
})
