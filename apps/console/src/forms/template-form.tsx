import { type ResponseOf, TemplateApply } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { SwitchField, TextAreaField, TextField } from './fields.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

const schema = TemplateApply.pick({ name: true, description: true }).extend({ versioned: z.boolean() })

type Props = {
  team: { slug: string; name: string }
  template: ResponseOf<'templates.list'>[number]
  onClose: () => void
}

/** Creates a project of the team from a template, and leads to it. */
export function TemplateForm({ team, template, onClose }: Props) {
  const { t } = useTranslation(['templates', 'projects', 'common'])
  const { created } = useFormEnd(onClose)
  const form = useZodForm(schema, { name: template.name, description: '', versioned: false })
  const generates = template.images.some(({ config }) => config.secrets?.some(({ generate }) => generate))
  const create = useCall('templates.create', {
    stale: [queryKey('projects.list'), queryKey('registries.list'), queryKey('dashboard.get')],
    onSuccess: ({ id, name }) =>
      created(links.project(team.slug, id), t(generates ? 'createdWithSecrets' : 'created', { name })),
  })
  return (
    <FormSheet
      title={t('form.title', { name: template.name })}
      description={t('form.text', { team: team.name })}
      submitLabel={t('form.create')}
      call={create}
      form={form}
      onClose={onClose}
      onSubmit={({ name, description, versioned }) =>
        create.mutateAsync({
          body: {
            id: template.id,
            teamSlug: team.slug,
            name,
            description: description || null,
            type: versioned ? 'versioned' : 'versionless',
          },
        })
      }
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      <SwitchField form={form} name="versioned" label={t('form.versioned')} help={t('form.versionedHelp')} />
      <section aria-label={t('form.images')} className="grid gap-1.5">
        <h3 className="font-strong">{t('form.images')}</h3>
        <ul className="grid gap-1">
          {template.images.map(({ image, tag, config }) => (
            <li key={`${image} ${config.name}`} className="mono min-w-0 text-ink-2 wrap-anywhere">
              {image}:{tag}
            </li>
          ))}
        </ul>
        <p className="text-small text-ink-2">{t(generates ? 'form.nextWithSecrets' : 'form.next')}</p>
      </section>
    </FormSheet>
  )
}
