import type { Release } from '@crux/agent-protocol'
import { patterns } from '@crux/contract'
import { PlanError } from '../errors.ts'

/** No version has more; each instance costs calls of the engine before anything can fail. */
const instancesMax = 1_000
/** A day: longer times would end at once, because a timer accepts no more than 2^31 milliseconds. */
const msMax = 24 * 60 * 60 * 1_000
const id = /^[A-Za-z0-9_-]{1,100}$/

/**
 * Checks what every later step relies on. The server sends only such values, but the agent does not depend on it: the fields become names
 * of containers, networks and directories, keys of tables and times of timers.
 *
 * @throws PlanError with the field
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

/** An id may become a key of an object, and objects have built-in keys. */
function isId(text: string): boolean {
  return id.test(text) && !(text in {})
}
