import { create } from '@bufbuild/protobuf'
import { type Container, type ContainerRef, ContainerSchema, type Scope } from '@crux/agent-protocol'
import { type EngineScope, isCovered } from '@crux/rules'
import type { ContainerView, FoundContainer } from '../engines/engine.ts'
import { nameOnEngine } from '../engines/names.ts'
import { EngineError } from '../errors.ts'

type Ref = Pick<ContainerRef, 'prefix' | 'name'>

/**
 * Returns the scope of a command. A command without a scope, or for another node, is refused: otherwise this agent would show or stop
 * containers of another team that shares the engine.
 *
 * @throws EngineError `refused`
 */
export function requireScope(scope: Scope | undefined, nodeId: string): EngineScope {
  if (!scope || scope.teamId === '' || scope.nodeId === '')
    throw new EngineError('refused', 'The command does not say whose containers it is about')
  if (scope.nodeId !== nodeId) throw new EngineError('refused', 'The command is for another node')
  return scope
}

/**
 * Finds a container that the scope covers. A container that is not covered fails exactly like one that does not exist.
 *
 * @throws EngineError `not-found`
 */
export async function findInScope(
  engine: Pick<ContainerView, 'find'>,
  ref: Ref,
  scope: EngineScope,
): Promise<FoundContainer> {
  const found = await engine.find(ref)
  if (!found || !isCovered(found.labels, scope)) throw notFound(ref)
  return found
}

/** What the server receives about a container: everything if the scope covers it, otherwise its name, image and state. */
function describeInScope(container: Container, scope: EngineScope): Container {
  if (isCovered(container.labels, scope)) return toOwned(container)
  const { ref, engineId, state, engineState, imageName, imageTag } = container
  const name = nameOnEngine(ref ?? { prefix: '', name: '' })
  return create(ContainerSchema, { ref: { prefix: '', name }, engineId, state, engineState, imageName, imageTag })
}

/** A list of hundreds is requested often and rarely changes: each copy is made once and lives as long as its original. */
const owned = new WeakMap<Container, Container>()

function toOwned(container: Container): Container {
  const known = owned.get(container) ?? create(ContainerSchema, { ...container, owned: true })
  owned.set(container, known)
  return known
}

/** The containers of a list as the scope may see them; the list of a prefix holds the scope's own containers only. */
export function inScope(containers: readonly Container[], scope: EngineScope, prefix: string | undefined): Container[] {
  return containers
    .map((container) => describeInScope(container, scope))
    .filter(({ owned, ref }) => prefix === undefined || (owned && ref?.prefix === prefix))
}

function notFound(ref: Ref): EngineError {
  return new EngineError('not-found', `There is no container ${nameOnEngine(ref)}`)
}
