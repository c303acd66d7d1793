import type { Release } from '@crux/agent-protocol'
import { patterns } from '@crux/contract'
import { PlanError } from './plan-error.ts'

/** More than any version has; each one costs calls of the engine before anything can fail. */
const instancesMax = 1_000
/** A day: longer times end before they begin, because a timer takes no more than 2^31 milliseconds. */
const msMax = 24 * 60 * 60 * 1_000
const id = /^[A-Za-z0-9_-]{1,100}$/

/**
 * What every later step takes for granted. The server sends nothing else, but the agent does not depend on it: the fields become names of
 * containers, networks and directories, keys of tables and times of timers.
 *
 * @throws Refusal with the field
 */
export function checkRelease(release: Release): void {
  const { key, owner, instances, drainMs, observationWindowMs } = release
  if (!key || !isId(key.deploymentId)) refuse('the release has no valid key')
  if (!owner) refuse('the release names no owner')
  for (const name of ['teamId', 'projectId', 'nodeId'] as const)
    if (!isId(owner[name])) refuse(`the release names no valid ${name} of its owner`)
  if (!patterns.dnsLabel.test(owner.prefix)) refuse('the prefix of the release is not a DNS label')
  if (instances.length === 0) refuse('there is nothing to deploy: the version has no images')
  if (instances.length > instancesMax) refuse(`a release has at most ${instancesMax} instances`)
  if (drainMs > msMax || observationWindowMs > msMax) refuse('a release waits at most a day')
  const known = new Set<string>()
  for (const { instanceId } of instances) {
    if (!isId(instanceId)) refuse('an instance of the release has no valid id')
    if (known.has(instanceId)) refuse(`the release has the instance ${instanceId} twice`)
    known.add(instanceId)
  }
}

function refuse(reason: string): never {
  throw new PlanError('', reason)
}

/** An id may become a key of an object, which has some names of its own. */
function isId(text: string): boolean {
  return id.test(text) && !(text in {})
}
