import type { Client } from '@crux/client'
import type { ContainerConfigFields } from '@crux/contract'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from './deploy-kit.ts'
import { startTestServer } from './kit/index.ts'
import type { ScriptedAgent } from './scripted-agent.ts'

type Images = { name: string; tag?: string; config?: ContainerConfigFields; registryId?: string }[]
export type TestChain = { projectId: string; chainId: string; versions: string[] }

let count = 0
/** A name that no other resource of the run has. */
export const named = (what: string): string => `${what} ${++count}`

/** Packages, environments and version chains of a team, created as `client`. */
export function makePackageKit(team: DeployTestEnvironment, client: Client) {
  const { call } = client
  const at = (packageId: string) => ({ ...team.params, packageId })
  return {
    call,
    at,
    /** Versions that were increased from one another, with the images of each. */
    async chain(names: string[] = ['1.0.0'], images: Images | ((index: number) => Images) = [{ name: 'web' }]) {
      const projectId = await team.project()
      const versions: string[] = []
      for (const [index, name] of names.entries()) {
        const parentId = versions.at(-1)
        const made = await team.version({
          type: 'incremental',
          name,
          projectId,
          images: typeof images === 'function' ? images(index) : images,
          ...(parentId && { parentId }),
        })
        versions.push(made.versionId)
      }
      return { projectId, chainId: versions[0] ?? '', versions } satisfies TestChain
    },
    package: (chainIds: string[] = [], name = named('Shop')) =>
      call('packages.create', { params: team.params, body: { name, chainIds } }),
    environment: (packageId: string, nodeId: string, name = named('env'), prefix = named('p').replace(' ', '')) =>
      call('packages.create-environment', { params: at(packageId), body: { name, nodeId, prefix } }),
    /** Deploys a version, without the package. */
    async run(version: string, target: { nodeId: string; prefix: string }, agent: ScriptedAgent, nth: number) {
      const { id } = await team.client.call('deployments.create', {
        params: team.params,
        body: { versionId: version, protected: false, ...target },
      })
      await team.start(id)
      await deployWell(agent, nth)
      await team.waitForStatus(id, 'successful')
      return id
    },
  }
}

/** A package with one chain and the environments dev and prod, each on a node of its own with its agent. */
export async function makePackageSystem(
  team: DeployTestEnvironment,
  kit: ReturnType<typeof makePackageKit>,
  { chain, agents = true }: { chain?: TestChain; agents?: boolean } = {},
) {
  const used = chain ?? (await kit.chain(['1', '2', '3']))
  const made = await kit.package([used.chainId])
  const place = async (name: string) => {
    const node = await team.node()
    const agent = agents ? await team.agent(node) : undefined
    const prefix = named(name).replace(' ', '')
    const { id } = await kit.environment(made.id, node.id, name, prefix)
    const run = (version: number, nth: number) => {
      if (!agent) throw new Error('this node has no agent')
      return kit.run(used.versions[version] ?? '', { nodeId: node.id, prefix }, agent, nth)
    }
    return { node, agent: agent as ScriptedAgent, prefix, params: { ...kit.at(made.id), environmentId: id }, run }
  }
  return { ...used, packageId: made.id, dev: await place('dev'), prod: await place('prod') }
}
export type PackageKit = ReturnType<typeof makePackageKit>

/** Two servers on one database, and a team whose member `user` works with packages. */
export async function startPackageServers() {
  const crux = await startTestServer()
  const other = await startTestServer({
    database: crux.database,
    people: crux.people,
    config: { encryption: crux.app.config.encryption },
  })
  const ours = await makeDeployTestEnvironment(crux)
  const user = await crux.addMember(ours.team, 'user', 'Uma')
  const stop = async () => {
    await other.stop({ database: true })
    await crux.stop()
  }
  return { crux, other, ours, user, kit: makePackageKit(ours, crux.client(user)), stop }
}
export type PackageServers = Awaited<ReturnType<typeof startPackageServers>>
