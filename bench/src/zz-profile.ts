import {
  createDeployment,
  createService,
  engine,
  finished,
  removeContainers,
  setTag,
  startDeployment,
  unique,
  web,
} from '@crux/test-kit'
import { setStage } from './stage.ts'

const stage = await setStage()
const count = Number(process.argv[2] ?? 10)
try {
  const { world, registry } = stage
  const names = Array.from({ length: count }, (_, index) => `bench/redeploy-${index}`)
  const tags = ['a', 'b']
  for (const name of names)
    for (const tag of tags) {
      await registry.push(name, tag, web(tag))
      await engine('POST', `/images/create?fromImage=${registry.host}/${name}&tag=${tag}`)
    }
  const service = await createService(
    world,
    names.map((name) => ({ name, tag: 'a', config: { name: name.slice(6) } })),
  )
  const prefix = unique('r')
  const deployment = await createDeployment(world, service, prefix)
  await startDeployment(world, deployment.id)
  await finished(world, deployment.id)
  for (let round = 1; round < 4; round++) {
    for (const index of names.keys()) await setTag(world, service, index, tags[round % 2] ?? 'a')
    const begun = Date.now()
    await startDeployment(world, deployment.id)
    const result = await finished(world, deployment.id, { everyMs: 10 })
    console.log('TOTAL', Date.now() - begun, result.status)
    if (round === 3) {
      const phases = new Map<string, [number, number]>()
      for (const e of result.events) {
        const at = new Date((e as any).createdAt ?? (e as any).at).getTime() - begun
        const p = (e as any).phase
        if (!p) {
          console.log(at, JSON.stringify((e as any).log ?? (e as any).message ?? e).slice(0, 140))
          continue
        }
        const key = p.phase
        const was = phases.get(key) ?? [Infinity, 0]
        phases.set(key, [Math.min(was[0], at), Math.max(was[1], at)])
      }
      for (const [k, v] of phases) console.log(k, v)
    }
  }
  await removeContainers(`dev.crux.prefix=${prefix}`)
} finally {
  await stage.end()
}
