-- Trigrams for the audit log's filter; a trusted extension, so the owner of the database may create it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE TABLE "crux"."access_token" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"user_id" text,
	"service_account_id" uuid,
	"deployment_id" uuid,
	"team_id" uuid,
	"name" text NOT NULL,
	"hash" text,
	"scope" text NOT NULL,
	"aal" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "access_token_holder" CHECK (num_nonnulls(user_id, service_account_id, deployment_id) = 1)
);
--> statement-breakpoint
CREATE TABLE "crux"."rate_limit" (
	"key" text PRIMARY KEY NOT NULL,
	"hits" integer NOT NULL,
	"resets_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."service_account" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"role" text NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
DROP INDEX "crux"."audit_log_newest";--> statement-breakpoint
ALTER TABLE "crux"."audit_log" ADD COLUMN "actor_email" text;--> statement-breakpoint
ALTER TABLE "crux"."audit_log" ADD COLUMN "search" text GENERATED ALWAYS AS (lower(event || ' ' || actor_name || ' ' || coalesce(actor_email, ''))) STORED;--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_service_account_id_service_account_id_fk" FOREIGN KEY ("service_account_id") REFERENCES "crux"."service_account"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."service_account" ADD CONSTRAINT "service_account_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_hash" ON "crux"."access_token" USING btree ("hash");--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_user_name" ON "crux"."access_token" USING btree ("user_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_service_account_name" ON "crux"."access_token" USING btree ("service_account_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_deployment_name" ON "crux"."access_token" USING btree ("team_id","name") WHERE deployment_id is not null and hash is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_deployment" ON "crux"."access_token" USING btree ("deployment_id") WHERE hash is not null;--> statement-breakpoint
CREATE INDEX "access_token_team" ON "crux"."access_token" USING btree ("team_id");--> statement-breakpoint
CREATE INDEX "access_token_of_deployment" ON "crux"."access_token" USING btree ("deployment_id");--> statement-breakpoint
CREATE UNIQUE INDEX "service_account_name" ON "crux"."service_account" USING btree ("team_id","name") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "audit_log_search" ON "crux"."audit_log" USING gin ("search" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "audit_log_newest" ON "crux"."audit_log" USING btree ("team_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST,"accepted");