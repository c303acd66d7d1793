import { useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { PageHeader } from '../../components/PageHeader.tsx'
import { Tab, Tabs } from '../../components/Tabs.tsx'
import { accountPages } from '../../frame/account-pages.ts'

/** The header that the account pages share. */
export function AccountHead({ title, actions }: { title: string; actions?: ReactNode }) {
  const { t } = useTranslation('account')
  const path = useLocation({ select: (location) => location.pathname })
  return (
    <>
      <PageHeader title={t('title')} fullTitle={title} crumb={title} actions={actions} />
      <Tabs label={t('title')}>
        {accountPages.map((tab) => (
          <Tab
            key={tab.id}
            {...tab.link}
            icon={tab.icon}
            selected={path === tab.link.to || (tab.id === 'profile' && isPartOfProfile(path))}
          >
            {t(`tab.${tab.id}`)}
          </Tab>
        ))}
      </Tabs>
    </>
  )
}

const isPartOfProfile = (path: string): boolean => /\/(edit-profile|change-password)$/.test(path)
