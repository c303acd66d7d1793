import type { ContainerConfigFields } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { kubernetesUnavailable } from './kubernetes-unavailable.ts'

const properties = (config: ContainerConfigFields, ingressClass: string | null = 'nginx') =>
  kubernetesUnavailable(config, { ingressClass }).map(({ property }) => property)

describe('kubernetesUnavailable', () => {
  it('refuses what Crux does not do on a cluster', () => {
    expect(properties({ expectedState: { state: 'waiting' } })).toEqual(['expectedState.state'])
    expect(properties({ expectedState: { state: 'exited' } })).toEqual([])
  })

  it('refuses to expose without an ingress class, and options of nginx with another one', () => {
    const config: ContainerConfigFields = {
      expose: 'expose',
      proxyHeaders: true,
      customHeaders: [{ key: 'X-A' }],
      routing: { path: '/api/', stripPath: true, uploadLimit: '10mb' },
    }
    expect(properties(config)).toEqual([])
    expect(properties(config, null)).toEqual(['expose'])
    expect(properties(config, 'traefik')).toEqual([
      'routing.stripPath',
      'routing.uploadLimit',
      'proxyHeaders',
      'customHeaders',
    ])
    expect(properties({ ...config, expose: 'none' }, 'traefik')).toEqual([])
    // There is nothing to strip of the root.
    expect(properties({ expose: 'expose', routing: { path: '/', stripPath: true } }, 'traefik')).toEqual([])
  })

  it('refuses names of volumes that no claim can have, such as paths of a machine', () => {
    const named = (name: string, type?: 'mem') => ({ volumes: [{ name, path: '/data', ...(type && { type }) }] })
    for (const name of ['/srv/data', 'Data', 'a_b', 'a-'])
      expect(properties(named(name)), name).toEqual(['volumes[0].name'])
    for (const name of ['data', 'data-2', 'a.b']) expect(properties(named(name)), name).toEqual([])
    expect(properties(named('Cache', 'mem'))).toEqual([])
  })

  it('refuses to copy files into a volume that is attached for reading alone', () => {
    const filled = (type: 'ro' | 'rwo' | 'rwx' | 'tmp' | 'mem') => ({
      volumes: [{ name: 'files', path: '/files', type }],
      configContainer: { image: 'a:1', volume: 'files', path: '/', keepFiles: false },
      storage: { storageId: '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e', bucket: 'b', path: 'files' },
    })
    expect(properties(filled('ro'))).toEqual(['configContainer.volume', 'storage.path'])
    for (const type of ['rwo', 'rwx', 'tmp', 'mem'] as const) expect(properties(filled(type)), type).toEqual([])
    expect(properties({ ...filled('ro'), configContainer: null, storage: { storageId: null, path: 'files' } })).toEqual(
      [],
    )
  })

  it('refuses files of a registry that pods do not reach, and the name of the container that copies them', () => {
    const from = (image: string) => properties({ configContainer: { image, volume: 'v', path: '/', keepFiles: false } })
    for (const host of ['localhost', 'localhost:5000', '127.0.0.1:5000', '[::1]:5000'])
      expect(from(`${host}/a:1`), host).toEqual(['configContainer.image'])
    for (const image of ['a:1', 'registry.example.com:5000/a', '10.0.0.1:5000/a', 'not a name'])
      expect(from(image), image).toEqual([])
    const storage = { storageId: '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e', bucket: 'b', path: 'v' }
    expect(properties({ name: 'crux-prepare', storage })).toEqual(['name'])
    expect(properties({ name: 'crux-prepare' })).toEqual([])
    const init = { image: 'a:1', useParentConfig: false, command: [], args: [], environment: [], volumes: [] }
    expect(properties({ initContainers: [{ ...init, name: 'crux-prepare' }] })).toEqual(['initContainers[0].name'])
  })

  it('replaces no pods one after another where files are copied into a claim that they share', () => {
    const rolling = (type: 'rwx' | 'tmp', volume = 'files') => ({
      volumes: [{ name: 'files', path: '/files', type }],
      replicas: 2,
      deploymentStrategy: 'rolling' as const,
      configContainer: { image: 'a:1', volume, path: '/', keepFiles: false },
    })
    expect(properties(rolling('rwx'))).toEqual(['deploymentStrategy'])
    expect(properties({ ...rolling('rwx'), deploymentStrategy: 'recreate' })).toEqual([])
    expect(properties(rolling('tmp'))).toEqual([])
    expect(properties(rolling('rwx', 'other'))).toEqual([])
  })

  it('keeps a claim from having two writers', () => {
    const volumes = (type?: 'rwo' | 'rwx' | 'ro' | 'mem') => [{ name: 'data', path: '/data', ...(type && { type }) }]
    const twice = (config: ContainerConfigFields) => ({
      replicas: 2,
      deploymentStrategy: 'rolling' as const,
      ...config,
    })
    expect(properties(twice({ volumes: volumes() }))).toEqual(['replicas', 'deploymentStrategy'])
    expect(properties(twice({ volumes: volumes('rwo') }))).toEqual(['replicas', 'deploymentStrategy'])
    for (const type of ['rwx', 'ro', 'mem'] as const) expect(properties(twice({ volumes: volumes(type) }))).toEqual([])
    expect(properties({ replicas: 1, volumes: volumes() })).toEqual([])
    expect(properties({ replicas: 0, volumes: volumes() })).toEqual([])
  })
})
