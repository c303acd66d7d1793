CREATE TABLE "crux"."followed_tag" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"registry_id" uuid NOT NULL,
	"name" text NOT NULL,
	"tag" text NOT NULL,
	"digest" text,
	"digest_at" timestamp (3) with time zone,
	"checked_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"pushed_at" timestamp (3) with time zone,
	"claimed_at" timestamp (3) with time zone,
	"error" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"blocked_until" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "follow" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "followed_by" text;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "follow_problem" text;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "follow_digest" text;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "follow_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD COLUMN "trigger" text;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD COLUMN "trigger_reason" text;--> statement-breakpoint
ALTER TABLE "crux"."followed_tag" ADD CONSTRAINT "followed_tag_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "followed_tag_once" ON "crux"."followed_tag" USING btree ("registry_id","name","tag");--> statement-breakpoint
CREATE INDEX "followed_tag_due" ON "crux"."followed_tag" USING btree ("next_check_at");--> statement-breakpoint
CREATE INDEX "instance_following" ON "crux"."instance" USING btree ("image_id") WHERE follow <> 'off';--> statement-breakpoint
CREATE INDEX "instance_follow_due" ON "crux"."instance" USING btree ("follow_due_at") WHERE follow_due_at is not null;