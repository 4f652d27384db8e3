//! Makes the folders that several processes share.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// More often than a folder is made, its parents do not go meanwhile: something else is wrong.
const TRIES: usize = 1_000;

/// Makes a folder and those above it, although others remove them where they are empty.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    // A folder that goes between two looks at it is "there" to the first and missing to the second.
    let is_missed =
        |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists);
    for _ in 1..TRIES {
        match fs::create_dir_all(folder) {
            Err(error) if is_missed(&error) => {}
            made => return made,
        }
    }
    fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn it_is_made_although_another_removes_it() {
        let root = std::env::temp_dir().join(format!("airtcp-folder-{}", std::process::id()));
        let folder = root.join("parent").join("kind");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        make(&folder).unwrap();
                        let _ =
                            fs::remove_dir(&folder).and_then(|()| fs::remove_dir(folder.parent().unwrap()));
                    }
                });
            }
        });
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_else_has_its_name_is_an_error() {
        let file = std::env::temp_dir().join(format!("airtcp-folder-file-{}", std::process::id()));
        fs::write(&file, "").unwrap();
        assert_eq!(make(&file).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(make(&file.join("kind")).unwrap_err().kind(), ErrorKind::NotADirectory);
        fs::remove_file(file).unwrap();
    }
}
