use bytes::Bytes;
use tempfile::TempDir;

use super::{SavedError, SavedFile, SavedFiles, name};

fn files(folder: &TempDir, quota_bytes: u64) -> SavedFiles {
    SavedFiles { server_name: "demo".to_owned(), folder: folder.path().join("out"), quota_bytes }
}

async fn save(files: &SavedFiles, hint: Option<&str>, media_type: &str, size: usize) -> Result<SavedFile, SavedError> {
    let mut file = files.begin(hint, media_type).await?;
    file.write(&Bytes::from(vec![7; size])).await?;
    let saved = file.commit().await;
    // Names sort by the millisecond.
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    saved
}

fn tail(hint: &str, media_type: &str) -> String {
    name::fresh(Some(hint), media_type).splitn(3, '-').nth(2).unwrap().to_owned()
}

#[test]
fn a_hint_shapes_the_name_and_never_the_place() {
    for (hint, media_type, wanted) in [
        ("speech.wav", "audio/x-wav", "speech.wav"),
        ("../../etc/passwd", "audio/x-wav", "passwd.wav"),
        ("C:\\x\\세 음성.mp3", "audio/mpeg", "세_음성.mp3"),
        ("a;rm -rf $HOME`x`.sh", "image/png", "a_rm_-rf__HOME_x.png"),
        ("archive.tgz", "application/octet-stream", "archive.tgz"),
        ("x.<script>", "application/octet-stream", "x.bin"),
        ("..", "image/png", "answer.png"),
        ("\u{202e}gpj.exe", "image/jpeg", "gpj.jpg"),
    ] {
        let tail = tail(hint, media_type);
        assert_eq!(tail, wanted, "{hint}");
        assert!(name::is_ours(&name::fresh(Some(hint), media_type)), "{hint}");
    }
}

#[test]
fn a_long_hint_is_cut_between_letters() {
    let tail = tail(&"가".repeat(100), "image/png");
    assert_eq!(tail, format!("{}.png", "가".repeat(20)));
}

#[test]
fn dispositions_name_files() {
    for (header, wanted) in [
        ("attachment; filename=\"a b.wav\"", Some("a b.wav")),
        ("attachment; filename=a.wav; x=y", Some("a.wav")),
        ("attachment; filename=\"a;\\\"b.wav\"; x=y", Some("a;\"b.wav")),
        ("attachment; filename=\"fallback.wav\"; filename*=UTF-8''%ED%95%9C.wav", Some("한.wav")),
        ("attachment; FileName*=utf-8'ko'%ED%95%9C.wav", Some("한.wav")),
        ("attachment; filename*=latin1''x", None),
        ("inline", None),
        ("attachment; filename=\"", None),
    ] {
        assert_eq!(super::hint_from_disposition(header).as_deref(), wanted, "{header}");
    }
}

#[tokio::test]
async fn saved_files_are_listed_and_read_by_their_uri() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder, 1000);
    let saved = save(&files, Some("한 글.wav"), "audio/wav", 3).await.unwrap();
    assert!(saved.uri.starts_with("toolwright://demo/files/") && saved.uri.is_ascii(), "{}", saved.uri);
    assert_eq!(files.list().await.unwrap(), vec![saved.clone()]);
    assert_eq!(files.read(&saved.uri, 10).await.unwrap(), (saved.clone(), vec![7; 3]));
    assert!(matches!(files.read(&saved.uri, 2).await, Err(SavedError::TooLarge(3))));
}

#[tokio::test]
async fn a_uri_reaches_no_other_file() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder, 1000);
    save(&files, None, "audio/wav", 3).await.unwrap();
    std::fs::write(folder.path().join("secret"), "x").unwrap();
    std::fs::write(folder.path().join("out/other"), "x").unwrap();
    for name in ["other", "..%2Fsecret", "../secret", "%2e%2e/secret", "0000000000000-00000000-..%2F..%2Fsecret"] {
        let uri = format!("toolwright://demo/files/{name}");
        assert!(matches!(files.read(&uri, 10).await, Err(SavedError::Unknown)), "{uri}");
    }
}

#[tokio::test]
async fn the_oldest_files_make_room() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder, 10);
    let first = save(&files, None, "image/png", 4).await.unwrap();
    let second = save(&files, None, "image/png", 4).await.unwrap();
    std::fs::write(folder.path().join("out/not-ours.txt"), vec![0; 100]).unwrap();
    let third = save(&files, None, "image/png", 4).await.unwrap();
    let names: Vec<String> = files.list().await.unwrap().into_iter().map(|file| file.name).collect();
    assert_eq!(names, [second.name, third.name]);
    assert!(!first.path.exists());
    assert!(folder.path().join("out/not-ours.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn files_that_are_done_at_the_same_time_stay_within_the_quota_together() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder, 100);
    for _ in 0..20 {
        let mut written = Vec::new();
        for _ in 0..8 {
            let mut file = files.begin(None, "image/png").await.unwrap();
            file.write(&Bytes::from(vec![7; 60])).await.unwrap();
            written.push(tokio::spawn(file.commit()));
        }
        for commit in written {
            commit.await.unwrap().unwrap();
        }
        assert_eq!(files.list().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn content_over_the_quota_is_refused_and_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder, 10);
    let kept = save(&files, None, "image/png", 4).await.unwrap();
    assert!(matches!(save(&files, None, "image/png", 11).await, Err(SavedError::Quota(10))));
    let left: Vec<_> = std::fs::read_dir(folder.path().join("out")).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(left, [kept.path]);
}

#[tokio::test]
async fn an_unfinished_file_is_removed_and_never_listed() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder, 10);
    let file = files.begin(None, "image/png").await.unwrap();
    assert!(files.list().await.unwrap().is_empty());
    drop(file);
    assert_eq!(std::fs::read_dir(folder.path().join("out")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_that_is_not_there_holds_no_files() {
    let folder = TempDir::new().unwrap();
    assert!(files(&folder, 10).list().await.unwrap().is_empty());
}
