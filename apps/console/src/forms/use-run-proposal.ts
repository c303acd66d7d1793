import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { z } from 'zod'
import { apiQuery, queryClient } from '../api/client.ts'
import { findImageProblem, type RunImageInput, type runImageSchema, toPortList, toPortRow } from './run-image-values.ts'
import { useSettled } from './use-settled.ts'

export type RunImageForm = UseFormReturn<RunImageInput, unknown, z.output<typeof runImageSchema>>
export type Inspection = { data: ResponseOf<'images.inspect'> | undefined; isPending: boolean }

/** What the registry tells about the image that is typed. */
export function useInspection(teamSlug: string, form: RunImageForm): Inspection {
  const typed = form.watch('image').trim()
  const image = useSettled(typed)
  const enabled = findImageProblem(image) === null
  const query = useQuery({ ...apiQuery('images.inspect', { params: { teamSlug }, query: { image } }), enabled })
  const isCurrent = image === typed && enabled
  return {
    data: isCurrent ? query.data : undefined,
    isPending: findImageProblem(typed) === null && (!isCurrent || query.isPending),
  }
}

/** Fills prefix and ports for an image on a node, as long as the user has not typed into them. */
export function useRunProposal(teamSlug: string, form: RunImageForm, inspection: Inspection['data']) {
  const nodeId = form.watch('nodeId')
  const { prefix: isPrefixTyped, ports: arePortsTyped } = form.formState.dirtyFields
  const image = inspection && `${inspection.name}:${inspection.tag}`
  const ports = toPortList(inspection?.exposedPorts ?? [])
  const proposal = useQuery({
    ...apiQuery('nodes.run-proposal', {
      params: { teamSlug, nodeId: nodeId || '-' },
      query: { image: image ?? '', ...(ports && { ports }) },
    }),
    enabled: nodeId !== '' && image !== undefined,
    // Ports are taken and released meanwhile.
    staleTime: 0,
  }).data
  useEffect(() => {
    if (!proposal) return
    if (!isPrefixTyped) form.setValue('prefix', proposal.prefix, { shouldValidate: form.formState.isSubmitted })
    if (!arePortsTyped) form.setValue('ports', proposal.ports.map(toPortRow))
  }, [proposal, form, isPrefixTyped, arePortsTyped])
}

/** The project that uses the typed prefix on the node. */
export function usePrefixUser(teamSlug: string, form: RunImageForm): string | null {
  const [nodeId, image, typed] = form.watch(['nodeId', 'image', 'prefix'])
  const prefix = useSettled(typed)
  const enabled =
    nodeId !== '' && findImageProblem(image) === null && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(prefix)
  const query = useQuery({
    ...apiQuery('nodes.run-proposal', { params: { teamSlug, nodeId: nodeId || '-' }, query: { image, prefix } }),
    enabled,
  })
  return enabled && prefix === typed ? (query.data?.prefixUsedBy ?? null) : null
}

/** Proposes a port of the node for a row whose port of the container was typed. */
export async function proposeNodePort(teamSlug: string, form: RunImageForm, index: number): Promise<void> {
  const { nodeId, image, ports } = form.getValues()
  const row = ports[index]
  if (row?.external !== '' || nodeId === '' || findImageProblem(image) !== null) return
  const internal = Number(row.internal)
  if (!Number.isInteger(internal) || internal < 1 || internal > 65_535) return
  const list = toPortList([{ internal, protocol: row.protocol }])
  const query = apiQuery('nodes.run-proposal', { params: { teamSlug, nodeId }, query: { image, ports: list } })
  const proposal = await queryClient.fetchQuery({ ...query, staleTime: 0 }).catch(() => undefined)
  const [proposed] = proposal?.ports ?? []
  // The row may have been filled or removed meanwhile.
  const now = form.getValues(`ports.${index}`)
  if (!proposed || now?.external !== '' || now.internal !== row.internal) return
  const used = new Set(form.getValues('ports').map(({ external }) => external))
  let external = proposed.external
  while (used.has(String(external))) external++
  form.setValue(`ports.${index}.external`, String(external), { shouldDirty: true })
}
