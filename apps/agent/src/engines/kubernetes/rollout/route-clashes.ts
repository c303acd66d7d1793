import type { Release } from '@crux/agent-protocol'
import { findOverlap, isSameRoute, type Route, routeText } from '@crux/rules'
import { PlanError } from '../../../errors.ts'
import { getOwner, isOwnedBy, label } from '../../labels.ts'
import { fullName } from '../../names.ts'
import type { Cluster, ClusterObject } from '../cluster/cluster.ts'
import { listIngressRoutes } from '../plan/ingress-routes.ts'
import type { ResolvedWorkload } from '../plan/manifests.ts'

/**
 * A host name and path belong to one owner per cluster: the one that routed them first keeps them. The message does not name the owner.
 * Within an owner a longer path may lie below a shorter one, but no two containers have the same route.
 *
 * @throws PlanError
 */
export async function refuseRouteClashes(
  cluster: Pick<Cluster, 'list'>,
  release: Release,
  resolved: readonly ResolvedWorkload[],
): Promise<void> {
  const routed = resolved.flatMap(({ instanceId, manifests: { ingress } }) =>
    ingress ? [{ instanceId, name: ingress.metadata.name, routes: listIngressRoutes(ingress.spec) }] : [],
  )
  if (routed.length === 0) return
  for (const [index, { instanceId, routes }] of routed.entries())
    for (const other of routed.slice(0, index)) {
      const route = findSame(routes, other.routes)
      if (route) refuse(instanceId, route, `is routed to ${other.name} of the same release too`)
    }
  // Also the namespaces of other teams: their Ingresses may be read, and nothing of them is shown.
  const { objects } = await cluster.list('Ingress', {})
  const isOwn = ({ labels }: ClusterObject) => release.owner !== undefined && isOwnedBy({ ...labels }, release.owner)
  const replaced = objects.filter((existing) => isOwn(existing) && isReplaced(existing, release, resolved))
  const held = replaced.flatMap(({ fields }) => listIngressRoutes(fields.spec))
  for (const existing of objects.filter((object) => !replaced.includes(object))) {
    const taken = listTaken(existing)
    for (const { instanceId, routes } of routed) {
      // What others route below a route that the owner has already is their part, such as the proof for a certificate.
      const added = routes.filter((route) => !held.some((one) => isSameRoute(one, route)))
      const route = isOwn(existing) ? findSame(routes, taken) : findOverlap(added, taken)
      if (route)
        refuse(instanceId, route, isOwn(existing) ? `is routed to ${existing.name}` : 'is in use on this cluster')
    }
  }
}

/** Whether the release changes the Ingress, or deletes it with its container. */
function isReplaced(
  { labels, name }: ClusterObject,
  { instances, owner, partial, previous }: Release,
  resolved: readonly ResolvedWorkload[],
): boolean {
  if (instances.some(({ instanceId }) => instanceId === labels[label.instance])) return true
  if (resolved.some(({ desired }) => desired.config.name === labels[label.name])) return true
  const full = fullName(owner?.prefix ?? '', labels[label.name] ?? name)
  return !partial && previous.some(({ containerName }) => containerName === full)
}

/** A catch-all of somebody else is for the requests that no other route matches. */
function listTaken({ fields, labels }: ClusterObject): Route[] {
  const routes = listIngressRoutes(fields.spec)
  return getOwner({ ...labels }) ? routes : routes.filter(({ host }) => host !== null)
}

const findSame = (routes: readonly Route[], others: readonly Route[]): Route | undefined =>
  routes.find((route) => others.some((other) => isSameRoute(other, route)))

function refuse(instanceId: string, route: Route, usage: string): never {
  throw new PlanError(instanceId, `${routeText(route)} ${usage}: choose another host name or path`)
}
