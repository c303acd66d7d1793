import { useLocation } from '@tanstack/react-router'
import { Hammer } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useTeamOrNone } from '../../api/me.ts'
import { ButtonLink } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { Pill } from '../../components/Tag.tsx'
import { links } from '../../routing/links.ts'

/** A page of the product that is planned and not built yet: what it will do, and what helps until then. */
export function PlannedPage() {
  const { t, i18n } = useTranslation('planned')
  const team = useTeamOrNone()
  const area = useLocation({
    select: (location) => getArea(location.pathname, (name) => i18n.exists(`planned:title.${name}`)),
  })
  const title = i18n.t(`planned:title.${area}` as 'planned:title.pipelines')
  return (
    <>
      <PageHeader title={title} mark={<Pill>{t('mark')}</Pill>} />
      <EmptyState
        icon={Hammer}
        title={t('notYet')}
        text={i18n.t(`planned:text.${area}` as 'planned:text.pipelines')}
        action={team && <ButtonLink {...links.dashboard(team.slug)}>{t('back')}</ButtonLink>}
      />
    </>
  )
}

/** The first part of the path that names an area: /acme/pipelines/1 -> pipelines. */
const getArea = (path: string, known: (name: string) => boolean): string =>
  path.split('/').find((part) => part !== '' && known(part)) ?? 'pipelines'
