import { type PipelineType, pipelineTypes, type ResponseOf } from '@crux/contract'
import { useMemo } from 'react'
import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastWarning } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, IconField, PasswordField, TextAreaField, TextField } from './fields.tsx'
import { PipelineInputRows } from './pipeline-input-rows.tsx'
import { getInputFields } from './pipeline-input-values.ts'
import { emptyPipeline, fromPipeline, hasTriggerName, pipelineValues, toPipelineWrite } from './pipeline-values.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; pipeline?: ResponseOf<'pipelines.get'>; onClose: () => void }

/** Creates a pipeline, or updates the given one. The server looks for it at its service before it stores anything. */
export function PipelineForm({ teamSlug, pipeline, onClose }: Props) {
  const { t } = useTranslation(['pipelines', 'common'])
  const { created, updated } = useFormEnd(onClose)
  const schema = useMemo(() => pipelineValues(pipeline?.type), [pipeline])
  const form = useZodForm(schema, pipeline ? fromPipeline(pipeline) : emptyPipeline)
  const stale = [queryKey('pipelines.list'), queryKey('pipelines.get')]
  const create = useCall('pipelines.create', {
    stale,
    toast: false,
    onSuccess: ({ id, name }) => created(links.pipeline(teamSlug, id), t('created', { name })),
  })
  const update = useCall('pipelines.update', {
    stale,
    toast: false,
    onSuccess: (result, { body: { name } }) => {
      if (result && !result.hook.deleted) toastWarning(result.hook.description)
      updated(t('updated', { name }))
    },
  })
  const [type, organization, inputs] = useWatch({ control: form.control, name: ['type', 'organization', 'inputs'] })
  const shell = pipeline
    ? { title: t('form.editTitle', { name: pipeline.name }), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.submit'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
      width="wide:w-[520px]"
      fields={{
        'trigger.name': hasTriggerName(type) ? 'triggerName' : 'project',
        ...getInputFields('trigger.inputs', inputs),
      }}
      onClose={onClose}
      onSubmit={(values) => {
        const body = toPipelineWrite(values)
        return pipeline
          ? update.mutateAsync({ params: { teamSlug, pipelineId: pipeline.id }, body })
          : create.mutateAsync({ params: { teamSlug }, body })
      }}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <ChipsField
        form={form}
        name="type"
        label={t('form.type')}
        options={pipelineTypes.map((value) => ({ value, label: t(`type.${value}`) }))}
      />
      <TextField
        form={form}
        name="organization"
        label={t(`form.${type}.organization`)}
        help={t(`form.${type}.organizationHelp`)}
        autoComplete="off"
        mono
      />
      <TextField
        form={form}
        name="project"
        label={t(`form.${type}.project`)}
        help={t(`form.${type}.projectHelp`)}
        autoComplete="off"
        mono
      />
      <TextField
        form={form}
        name="branch"
        label={t('facts.branch')}
        help={t('form.branchHelp')}
        autoComplete="off"
        mono
        optional
      />
      {hasTriggerName(type) && (
        <TextField
          form={form}
          name="triggerName"
          label={t(`form.${type}.trigger`)}
          help={t(`form.${type}.triggerHelp`)}
          autoComplete="off"
          mono
        />
      )}
      <PasswordField
        form={form}
        name="token"
        label={t('form.token')}
        help={
          <>
            {pipeline && <TokenNote pipeline={pipeline} now={{ type, organization }} />} {t(`form.${type}.tokenHelp`)}
          </>
        }
        autoComplete="new-password"
      />
      <PipelineInputRows
        help={t(`form.${type}.inputsHelp`)}
        rows={inputs}
        onChange={(rows) =>
          form.setValue('inputs', rows, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
        }
        register={(index, part) => form.register(`inputs.${index}.${part}`)}
        errors={form.formState.errors.inputs}
      />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      <IconField form={form} name="icon" label={t('common:icon.label')} />
    </FormSheet>
  )
}

type TokenNoteProps = { pipeline: ResponseOf<'pipelines.get'>; now: { type: PipelineType; organization: string } }

/** Whether the stored token can stay: another service needs its own, and another organization may not know it. */
function TokenNote({ pipeline: { type, repository }, now }: TokenNoteProps) {
  const { t } = useTranslation('pipelines')
  if (now.type !== type) return t('form.tokenOfOther', { service: t(`type.${type}`) })
  if (now.organization.trim() === repository.organization) return t('form.tokenKept')
  return t('form.tokenMoved', { organization: repository.organization })
}
