import type { ContainerConfigFields } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { validateConfig } from './config-validate.ts'

const problems = (config: ContainerConfigFields, options?: Parameters<typeof validateConfig>[1]) =>
  validateConfig(config, options).map(({ property, description }) => `${property}: ${description}`)
const named = (name: string) => problems({ volumes: [{ name, path: '/data' }] })

describe('the name of a volume', () => {
  it.each(['data', 'a.b', '.hidden', 'with space', 'ä', 'data_1-x', 'a:b'])('accepts the directory name %j', (name) => {
    expect(named(name)).toEqual([])
  })

  it.each([
    ['data/x', /no slash or backslash/],
    ['data/', /no slash or backslash/],
    ['./data', /no slash or backslash/],
    ['data\\x', /no slash or backslash/],
    ['C:\\data', /no slash or backslash/],
    ['\\data', /no slash or backslash/],
    ['..', /leave out "\.\."/],
    ['../x', /leave out "\.\."/],
    ['/srv/../etc', /leave out "\.\."/],
    ['.', /not the name of a directory/],
    ['-v', /dash/],
    ['a\nb', /control characters/],
    ['a\u0000b', /control characters|NUL/],
    ['a\u001bb', /control characters/],
    ['a\u2028b', /control characters/],
    ['/srv/a\nb', /control characters/],
    ['ä'.repeat(128), /at most 255 bytes/],
  ])('refuses %j', (name, reason) => {
    expect(named(name)).toEqual([expect.stringMatching(reason)])
  })

  it('is refused in every field that names a volume, also while another layer may have the volume', () => {
    expect(
      problems({
        configContainer: { image: 'app', volume: 'data/x', path: '/etc', keepFiles: false },
        storage: { storageId: '0199f0e0-0000-7000-8000-000000000001', bucket: 'b', path: '../x' },
        initContainers: [
          { name: 'init', image: 'app', useParentConfig: false, volumes: [{ name: 'a/../b', path: '/v' }] },
        ],
      }),
    ).toEqual([
      expect.stringMatching(/^configContainer\.volume: .*no slash/),
      expect.stringMatching(/^storage\.path: .*leave out/),
      expect.stringMatching(/^initContainers\[0\]\.volumes\[0\]\.name: .*leave out/),
    ])
  })

  it('is reported with the location of the data of an old name once the container is known', () => {
    expect(
      problems({ name: 'web', volumes: [{ name: 'data/x', path: '/data' }] }, { prefix: 'shop', whole: true }),
    ).toEqual([expect.stringContaining("stays in shop/web/data/x of the node's data directory")])
  })
})

describe('volumes that are paths of the node', () => {
  const paths = (outer: 'ro' | 'rwo', inner: 'ro' | 'rwo', more: ContainerConfigFields = {}) =>
    problems({
      volumes: [
        { name: '/srv/shared/', path: '/a', type: outer },
        { name: '/srv/./shared//deep', path: '/b', type: inner },
      ],
      ...more,
    })

  it('are refused when one is inside the other and one of them is writable', () => {
    const refused = [expect.stringMatching(/^volumes\[1\]\.name: .* lies inside \/srv\/shared\//)]
    expect(paths('rwo', 'ro')).toEqual(refused)
    expect(paths('ro', 'rwo')).toEqual(refused)
    expect(paths('ro', 'ro', { initContainers: [createInit('/srv/shared/')] })).toEqual(refused)
    expect(paths('ro', 'ro')).toEqual([])
  })

  it('are compared with the root, and with each volume around them', () => {
    const names = (rows: string[]) =>
      problems({ volumes: rows.map((name, index) => ({ name, path: `/${index}`, type: 'rwo' })) })
    expect(names(['/srv/a', '/'])).toEqual([expect.stringMatching(/^volumes\[0\].* \/srv\/a lies inside \/, /)])
    expect(names(['/srv/a/b', '/srv/a', '/srv'])).toEqual([
      expect.stringMatching(/^volumes\[0\].* lies inside \/srv\/a, /),
      expect.stringMatching(/^volumes\[1\].* lies inside \/srv, /),
    ])
  })

  it('may be siblings, and may be nested inside the container', () => {
    expect(
      problems({
        volumes: [
          { name: '/srv/data', path: '/data' },
          { name: '/srv/data2', path: '/data/more' },
          { name: 'cache', path: '/data/more/cache' },
        ],
      }),
    ).toEqual([])
  })
})

const createInit = (volume: string) => ({
  name: 'init',
  image: 'app',
  useParentConfig: false,
  volumes: [{ name: volume, path: '/v' }],
})
