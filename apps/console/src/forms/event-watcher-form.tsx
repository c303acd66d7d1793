import { pipelineEvents, type ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../api/client.ts'
import { EventWatcherPreview } from './event-watcher-preview.tsx'
import { ReportingRegistryNote } from './event-watcher-registry.tsx'
import {
  EventWatcherValues,
  fromEventWatcher,
  listReportingRegistries,
  toEventWatcherWrite,
} from './event-watcher-values.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, SelectField, TextField } from './fields.tsx'
import { PipelineInputRows } from './pipeline-input-rows.tsx'
import { getInputFields } from './pipeline-input-values.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

type Pipeline = ResponseOf<'pipelines.get'>
type Props = { teamSlug: string; pipeline: Pipeline; watcher?: Pipeline['eventWatchers'][number]; onClose: () => void }

const label = '{{label:}}'
const placeholders = [
  ...['{{imageName}}', '{{imageTag}}'].map((text) => ({ label: text, text, caret: text.length })),
  // The name of the label is typed before the braces.
  { label: '{{label:…}}', text: label, caret: label.length - 2 },
]

/** Creates an event watcher of a pipeline, or updates the given one. */
export function EventWatcherForm({ teamSlug, pipeline, watcher, onClose }: Props) {
  const { t } = useTranslation(['pipelines', 'common'])
  const { updated } = useFormEnd(onClose)
  const form = useZodForm(EventWatcherValues, fromEventWatcher(watcher))
  const params = { teamSlug, pipelineId: pipeline.id }
  const stale = [queryKey('pipelines.get', { params })]
  const create = useCall('pipelines.create-event-watcher', {
    stale,
    toast: false,
    onSuccess: ({ name }) => updated(t('watchers.created', { name })),
  })
  const update = useCall('pipelines.update-event-watcher', {
    stale,
    toast: false,
    onSuccess: (_, { body: { name } }) => updated(t('watchers.updated', { name })),
  })
  const registries = useQuery(apiQuery('registries.list', { params: { teamSlug } }))
  const [event, registryId, filter, inputs] = useWatch({
    control: form.control,
    name: ['event', 'registryId', 'imageNameStartsWith', 'inputs'],
  })
  const reporting = listReportingRegistries(registries.data ?? [], event)
  // The registry of a watcher stays listed, also where it can no longer report.
  const kept = registries.data?.filter(({ id }) => id === registryId && !reporting.some((one) => one.id === id)) ?? []
  const shell = watcher
    ? { title: t('watchers.editTitle', { name: watcher.name }), call: update }
    : { title: t('watchers.createTitle'), submitLabel: t('watchers.submit'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
      width="wide:w-[520px]"
      fields={getInputFields('triggerInputs', inputs)}
      onClose={onClose}
      onSubmit={(values) => {
        const body = toEventWatcherWrite(values)
        return watcher
          ? update.mutateAsync({ params: { ...params, eventWatcherId: watcher.id }, body })
          : create.mutateAsync({ params, body })
      }}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <ChipsField
        form={form}
        name="event"
        label={t('column.event')}
        options={pipelineEvents.map((value) => ({ value, label: t(`event.${value}`) }))}
      />
      <SelectField
        // The select can show the registry of the watcher only once it is among its options.
        key={registries.status}
        form={form}
        name="registryId"
        label={t('column.registry')}
        help={t(`watchers.registryHelp.${event}`)}
        none={t('watchers.chooseRegistry')}
        options={[...reporting, ...kept].map(({ id, name }) => ({ value: id, label: name }))}
      />
      <ReportingRegistryNote
        teamSlug={teamSlug}
        registryId={registryId}
        isNone={registries.isSuccess && reporting.length === 0}
        cannotReport={kept.length > 0}
      />
      <TextField
        form={form}
        name="imageNameStartsWith"
        label={t('watchers.filter')}
        help={t('watchers.filterHelp')}
        placeholder="shop/"
        autoComplete="off"
        mono
        optional
      />
      <PipelineInputRows
        help={t('watchers.inputsHelp')}
        rows={inputs}
        onChange={(rows) =>
          form.setValue('inputs', rows, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
        }
        register={(index, part) => form.register(`inputs.${index}.${part}`)}
        errors={form.formState.errors.inputs}
        placeholders={placeholders}
      />
      <EventWatcherPreview ofPipeline={pipeline.trigger.inputs} ofWatcher={inputs} filter={filter} />
    </FormSheet>
  )
}
