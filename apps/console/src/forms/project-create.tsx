import { ProjectCreate as Contract } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormSheet } from './FormShell.tsx'
import { SwitchField, TextAreaField, TextField } from './fields.tsx'

const Form = Contract.pick({ name: true, description: true }).extend({ versioned: z.boolean() })

export function ProjectCreate({ teamSlug, onClose }: { teamSlug: string; onClose: () => void }) {
  const { t } = useTranslation(['projects', 'common'])
  const navigate = useNavigate()
  const form = useForm({ resolver: zodResolver(Form), defaultValues: { name: '', description: '', versioned: true } })
  const create = useCall('projects.create', {
    stale: [queryKey('projects.list'), queryKey('dashboard.get')],
    onSuccess: (project) => {
      toastSuccess(t('created', { name: project.name }))
      return navigate({ ...links.project(teamSlug, project.id), ...replaceFormEntry() })
    },
  })
  return (
    <FormSheet
      title={t('form.createTitle')}
      form={form}
      submitLabel={t('form.create')}
      call={create}
      onClose={onClose}
      onSubmit={({ name, description, versioned }) =>
        create.mutateAsync({
          params: { teamSlug },
          body: { name, description: description || null, type: versioned ? 'versioned' : 'versionless' },
        })
      }
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      <SwitchField form={form} name="versioned" label={t('form.versioned')} help={t('form.versionedHelp')} />
    </FormSheet>
  )
}
