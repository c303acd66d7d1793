import { EngineKind } from '@crux/agent-protocol'
import { z } from 'zod'
import { EngineError, isEngineError } from '../../../errors.ts'
import type { EngineDescription } from '../../engine.ts'
import type { Api } from './api.ts'
import { translating } from './errors.ts'
import { toCollectionPath } from './kinds.ts'

/** Older versions are not tested, and their makers do not maintain them any more. */
const minorMin = 30

const Version = z.object({
  major: z.string(),
  minor: z.string(),
  gitVersion: z.string(),
  platform: z.string().default('linux/amd64'),
})
const Nodes = z.object({
  items: z
    .array(
      z.object({
        status: z.object({
          nodeInfo: z.object({
            architecture: z.string(),
            operatingSystem: z.string(),
            osImage: z.string().default(''),
          }),
        }),
      }),
    )
    .default([]),
})

/** @throws EngineError `refused` for a cluster that is too old */
export async function describe(api: Api): Promise<EngineDescription> {
  const { gitVersion, major, minor, platform } = Version.parse(
    await translating(undefined, () => api.json({ path: '/version' })),
  )
  const version = `Kubernetes ${gitVersion.replace(/^v/, '')}`
  // Hosted clusters write "30+".
  if (Number.parseInt(major, 10) < 1 || (major === '1' && Number.parseInt(minor, 10) < minorMin))
    throw new EngineError(
      'refused',
      `The cluster runs ${version}, and this agent needs Kubernetes 1.${minorMin} or later: upgrade the cluster`,
    )
  const [operatingSystem = '', architecture = ''] = (await describeNodes(api)) ?? platform.split('/')
  return { kind: EngineKind.KUBERNETES, version, operatingSystem, architecture, ownContainer: '' }
}

/** The most frequent operating system and architecture; undefined when the agent may not list nodes, which an earlier installation has no right to. */
async function describeNodes(api: Api): Promise<string[] | undefined> {
  const asked = { verb: 'list', kind: 'Node' } as const
  const path = toCollectionPath('Node', '')
  try {
    const json = await translating(asked, () => api.json({ path, query: { limit: '50', resourceVersion: '0' } }))
    const counts = new Map<string, number>()
    for (const { status } of Nodes.parse(json).items) {
      const { architecture, operatingSystem, osImage } = status.nodeInfo
      const key = `${osImage || operatingSystem}\n${architecture}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return [...counts].sort(([, left], [, right]) => right - left)[0]?.[0].split('\n')
  } catch (error) {
    if (isEngineError(error, 'unavailable')) throw error
    return undefined
  }
}
