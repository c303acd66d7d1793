import type { ResponseOf } from '@crux/contract'
import { LayoutTemplate, Plus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { FoldedText } from '../../components/FoldedText.tsx'
import { Tag } from '../../components/Tag.tsx'

export type Template = ResponseOf<'templates.list'>[number]

type Props = { templates: readonly Template[]; disabledReason: string | null; onAdd: (template: Template) => void }

export function TemplateCards({ templates, disabledReason, onAdd }: Props) {
  const { t } = useTranslation('templates')
  return (
    <ul
      aria-label={t('title')}
      className="grid gap-3 [grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr))]"
    >
      {templates.map((template) => (
        <li
          key={template.id}
          data-template={template.id}
          className="flex min-w-0 flex-col rounded-box border border-line bg-surface p-3.5"
        >
          <div className="flex items-center gap-3">
            <Picture template={template} />
            <div className="min-w-0 flex-1">
              <h2 className="font-semibold wrap-anywhere">{template.name}</h2>
              <p className="text-small text-ink-2">{t('images', { count: template.images.length })}</p>
            </div>
            <Button
              icon={Plus}
              aria-label={t('addNamed', { name: template.name })}
              disabledReason={disabledReason}
              onClick={() => onAdd(template)}
            >
              {t('add')}
            </Button>
          </div>
          <ul aria-label={t('technologies')} className="mt-3 flex flex-wrap gap-1.5">
            {template.technologies.map((technology) => (
              <li key={technology} className="flex">
                <Tag>{technology}</Tag>
              </li>
            ))}
          </ul>
          <FoldedText text={template.description} lines={6} className="mt-2.5 text-ink-2" />
        </li>
      ))}
    </ul>
  )
}

/** Without a picture, or one that does not load, the card has the icon of templates. */
function Picture({ template: { id, pictureHash } }: { template: Template }) {
  const [failed, setFailed] = useState(false)
  if (failed)
    return (
      <span aria-hidden className="grid size-12 shrink-0 place-items-center rounded-md bg-sunken text-ink-2">
        <LayoutTemplate />
      </span>
    )
  return (
    <img
      src={`/api/templates/${id}/image?v=${pictureHash}`}
      alt=""
      width={48}
      height={48}
      className="size-12 shrink-0"
      onError={() => setFailed(true)}
    />
  )
}
