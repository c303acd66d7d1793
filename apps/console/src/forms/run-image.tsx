import { ApiError } from '@crux/client'
import type { BodyInput, ResponseOf } from '@crux/contract'
import { getImageHost } from '@crux/rules'
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useCall } from '../api/client.ts'
import { useDenied } from '../api/me.ts'
import { useFreezeQuestion } from '../api/use-freeze-question.ts'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormSheet } from './FormShell.tsx'
import { TextAreaField, TextField } from './fields.tsx'
import { RunImageNode } from './run-image-node.tsx'
import { RunImagePorts } from './run-image-ports.tsx'
import { createRequestKey, getErrorFields, runImageSchema } from './run-image-values.ts'
import { useZodForm } from './use-form.ts'
import { type Inspection, useInspection, usePrefixUser, useRunProposal } from './use-run-proposal.ts'

type Props = { teamSlug: string; onClose: () => void }

/** Runs an image: one form creates project, image and deployment, starts it, and leads to its progress. */
export function RunImage({ teamSlug, onClose }: Props) {
  const { t } = useTranslation('run')
  const navigate = useNavigate()
  const form = useZodForm(runImageSchema, { image: '', nodeId: '', prefix: '', ports: [], environment: '' })
  const inspection = useInspection(teamSlug, form)
  useRunProposal(teamSlug, form, inspection.data)
  const prefixUser = usePrefixUser(teamSlug, form)
  const registryDenied = useDenied('registries.create')
  const getKey = useRequestKey()
  const run = useCall('projects.run', {
    stale: ['projects.list', 'deployments.list', 'registries.list', 'dashboard.get'].map((name) => [name]),
    toast: ({ property }) => property !== 'freezeWindow',
    onSuccess: ({ deploymentId }) =>
      navigate({ ...links.deploymentProgress(teamSlug, deploymentId), ...replaceFormEntry() }),
  })
  const { askWhy } = useFreezeQuestion()
  const send = (body: Omit<BodyInput<'projects.run'>, 'key'>) =>
    run.mutateAsync({ params: { teamSlug }, body: { ...body, key: getKey(JSON.stringify(body)) } })
  const problem = getProblem(inspection.data, registryDenied !== null)
  return (
    <FormSheet
      form={form}
      title={t('open')}
      description={t('text')}
      submitLabel={t('submit')}
      call={{ ...run, denied: run.denied ?? (problem && t('fixImage')) }}
      fields={getErrorFields(form.watch('ports'), run.error?.property)}
      onClose={onClose}
      onSubmit={async (values) => {
        const body = { ...values, createRegistry: registryDenied === null }
        try {
          await send(body)
        } catch (error) {
          if (!(error instanceof ApiError) || error.property !== 'freezeWindow') throw error
          const overrideFreeze = await askWhy(error.message)
          if (overrideFreeze === null) throw error
          await send({ ...body, overrideFreeze })
        }
      }}
    >
      <TextField
        form={form}
        name="image"
        label={t('image')}
        help={<ImageHelp inspection={inspection} mayCreate={registryDenied === null} />}
        placeholder="nginx:1.29"
        autoComplete="off"
        mono
      />
      <RunImageNode teamSlug={teamSlug} form={form} />
      <RunImagePorts teamSlug={teamSlug} form={form} />
      <TextField
        form={form}
        name="prefix"
        label={t('prefix')}
        help={prefixUser === null ? t('prefixHelp') : <Problem>{t('prefixUsed', { project: prefixUser })}</Problem>}
        autoComplete="off"
        mono
      />
      <TextAreaField form={form} name="environment" label={t('environment')} help={t('environmentHelp')} optional />
    </FormSheet>
  )
}

/** The key of a request stays the same while what it asks for does: a repeated request creates nothing twice. */
function useRequestKey(): (request: string) => string {
  const sent = useRef({ request: '', key: '' })
  return (request) => {
    if (sent.current.request !== request) sent.current = { request, key: createRequestKey() }
    return sent.current.key
  }
}

/** Why the image cannot be run, where it is known before it is sent. */
function getProblem(image: ResponseOf<'images.inspect'> | undefined, registryDenied: boolean) {
  if (image?.exists === false) return { key: 'missing' as const, values: { registry: image.registry?.name ?? '' } }
  if (image && !image.registry && registryDenied)
    return { key: 'noRegistry' as const, values: { host: getImageHost(image.name) } }
  return null
}

const Problem = ({ children }: { children: string }) => <span className="text-failed">{children}</span>

/** The registry of the image, and what it tells. */
function ImageHelp({ inspection: { data, isPending }, mayCreate }: { inspection: Inspection; mayCreate: boolean }) {
  const { t } = useTranslation('run')
  if (isPending) return <span role="status">{t('inspecting')}</span>
  if (!data) return t('imageHelp')
  const problem = getProblem(data, !mayCreate)
  if (problem) return <Problem>{t(problem.key, problem.values)}</Problem>
  const { registry } = data
  if (!registry) return t('newRegistry', { host: getImageHost(data.name) })
  if (data.exists) return t('found', { registry: registry.name })
  return data.problem
    ? t('unknown', { registry: registry.name, problem: data.problem })
    : t('unchecked', { registry: registry.name })
}
