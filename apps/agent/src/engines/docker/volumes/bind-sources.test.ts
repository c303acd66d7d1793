import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DataDirectory, openDataDirectory } from '../../../files/data-directory.ts'
import { type BindSources, createBindSources } from './bind-sources.ts'

const log = createLogger({ name: 'test', level: 'silent' })
let directory: string
let dataDir: string
let data: DataDirectory

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-sources-'))
  dataDir = join(directory, 'data')
  data = await openDataDirectory({ dataDir, dataMountPath: dataDir, log })
})
afterEach(async () => {
  await data.close()
  await rm(directory, { recursive: true, force: true })
})

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: Error) => error.message,
  )

describe('bind sources of an agent in a container', () => {
  /** The engine's machine has the directory under a path that this process does not see. */
  async function openElsewhere(): Promise<BindSources> {
    await data.close()
    data = await openDataDirectory({ dataDir, dataMountPath: '/srv/crux/', log })
    return createBindSources(data, { seesHost: false })
  }

  test('refuse paths that overlap the data directory of the installation', async () => {
    const sources = await openElsewhere()
    for (const path of ['/', '/srv', '/srv/', '/srv/./crux', '/srv//crux/', '/srv/x/../crux'])
      expect(await refusal(sources.check([path])), path).toContain('overlaps /srv/crux')
    expect(await refusal(sources.check(['/srv/crux/.agent']))).toContain('not the directory of a volume')
    expect(await refusal(sources.check(['/srv/crux2', '/srv/other', '/var/run/docker.sock']))).toBe('accepted')
  })

  test('check the directories of volumes as the agent sees them and name them as the node does', async () => {
    const sources = await openElsewhere()
    const volume = await data.openVolume('shop/web/data')
    await volume.close()
    expect(volume.created).toBe(true)
    expect(await refusal(sources.check(['/srv/crux/shop/web/data']))).toBe('accepted')
    expect(await refusal(sources.check(['/srv/crux/shop/web/more']))).toContain(
      '/srv/crux/shop/web/more of a volume is missing',
    )
    await symlink(join(dataDir, 'shop/web/data'), join(dataDir, 'shop/web/link'))
    expect(await refusal(sources.check(['/srv/crux/shop/web/link']))).toContain('/srv/crux/shop/web/link is a link')
  })
})

describe('the data directory', () => {
  test('is no longer used when it was replaced while the agent ran', async () => {
    await rm(dataDir, { recursive: true })
    await mkdir(dataDir)
    expect(await refusal(data.openVolume('shop/web/data'))).toContain('was moved or replaced: restart the agent')
  })

  test('keeps its permissions when it is a shared directory and then holds no volume', async () => {
    await data.close()
    await mkdir(join(directory, 'shared', 'of-others'), { recursive: true })
    await chmod(join(directory, 'shared'), 0o1777)
    data = await openDataDirectory({
      dataDir: join(directory, 'shared'),
      dataMountPath: join(directory, 'shared'),
      log,
    })
    expect(await refusal(data.openVolume('shop/web/data'))).toContain('chmod go-w')
  })

  test('holds no volume at a path of another depth or at one that leads out of it', async () => {
    for (const path of [
      'data',
      'shop/web',
      'shop/web/data/deep',
      '../../etc',
      'shop/web/..',
      'shop/./data',
      'shop//data',
    ])
      expect(await refusal(data.openVolume(path)), path).toMatch(/not the directory of a volume|not a path below/)
  })
})
