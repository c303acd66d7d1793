import type { VersionType } from '@crux/contract'

export type Member = {
  id: string
  name: string
  type: VersionType
  chainId: string
  parentId: string | null
}

/**
 * The members of one chain, the earliest first. A version has at most one child, so each member without a parent starts
 * a line without branches. There are several such lines where versions in the middle were deleted, which clears the
 * parent of the next one: they follow in the order in which their first versions were created.
 *
 * @param members in the order of their creation
 */
export function orderMembers<M extends Member>(members: readonly M[]): M[] {
  const ids = new Set(members.map(({ id }) => id))
  const children = new Map(members.map((member) => [member.parentId, member]))
  const ordered: M[] = []
  for (const first of members) {
    if (first.parentId !== null && ids.has(first.parentId)) continue
    for (let member: M | undefined = first; member; member = children.get(member.id)) ordered.push(member)
  }
  return ordered
}

/** The ordered members of each chain. @param members in the order of their creation */
export function groupMembers<M extends Member>(members: readonly M[]): Map<string, M[]> {
  const chains = new Map<string, M[]>()
  for (const member of members) {
    const chain = chains.get(member.chainId)
    if (chain) chain.push(member)
    else chains.set(member.chainId, [member])
  }
  return new Map([...chains].map(([id, chain]) => [id, orderMembers(chain)]))
}

export type End = Member & { isEarliest: boolean; isLatest: boolean }
type Basic = { id: string; name: string; type: VersionType }
export type ChainEnds = { id: string; earliest: Basic; latest: Basic }

/**
 * The earliest and the latest version of each chain.
 *
 * @param ends the members without a parent or without a child, in any order. Ids ascend with the time of creation.
 */
export function findEnds(ends: readonly End[]): Map<string, ChainEnds> {
  const chains = new Map<string, ChainEnds>()
  for (const { isEarliest, isLatest, chainId, id, name, type } of ends) {
    const member = { id, name, type }
    const chain = chains.get(chainId) ?? { id: chainId, earliest: member, latest: member }
    if (isEarliest && !(chain.earliest.id < id)) chain.earliest = member
    if (isLatest && !(chain.latest.id > id)) chain.latest = member
    chains.set(chainId, chain)
  }
  return chains
}
